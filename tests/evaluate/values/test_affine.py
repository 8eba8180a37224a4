"""What a compiler can prove of an integer."""

from __future__ import annotations

import random

from smemlint.evaluate.values.affine import Affine, add, atom, combine, either, scale, whole

T = atom("t")
N = atom("n")


def of(op: str, a: Affine, b: Affine | int, *, positive: bool = True, unsigned: bool = False) -> Affine:
    return combine(op, a, b if isinstance(b, Affine) else Affine(b), positive=positive, unsigned=unsigned)


def test_constants_do_not_count_and_the_worst_term_does() -> None:
    x = add(of("*", T, 4), Affine(3))
    assert (x.const, x.divides) == (3, 4)
    assert add(x, of("*", N, 2)).divides == 2
    assert add(x, N).divides == 1


def test_a_sum_is_not_added_up_first() -> None:
    x = add(of("*", of("-", Affine(16), T), 17), T)
    assert x == Affine(272, scale(T, -16).terms, 1)


def test_a_number_and_its_negative_leave_what_divides_the_rest() -> None:
    lane = of("&", T, 31)
    x = add(of("-", scale(T, 4), lane), lane)
    assert x == scale(T, 4)
    assert add(of("-", scale(T, 2), N), N).divides == 2
    assert of("-", T, T) == Affine(0)
    assert add(of("-", scale(T, 4), scale(lane, 3)), lane).divides == 1


def test_a_distance_is_known_where_the_terms_are_the_same() -> None:
    x, y = add(scale(T, 2), Affine(1)), scale(T, 2)
    assert x.terms == y.terms and x.const - y.const == 1
    assert of(">>", scale(T, 33), 5).terms == of(">>", scale(T, 33), 5).terms
    assert add(x, of(">>", scale(T, 33), 5)).terms != add(y, of(">>", scale(N, 33), 5)).terms


def test_masks_and_shifts_leave_known_zeros() -> None:
    assert of("&", N, ~3).divides == 4
    assert of("&", scale(T, 4), 31).divides == 4
    assert of("&", T, 32).divides == 32
    assert of(">>", scale(T, 16), 2) == scale(T, 4)
    assert of(">>", T, 5).divides == 1
    assert of("^", scale(T, 4), of("<<", of(">>", T, 3), 2)).divides == 4
    assert of("|", scale(T, 4), 1) == add(scale(T, 4), Affine(1))
    assert of("%", scale(N, 8), 64, positive=False).divides == 1


def test_one_of_two_values_is_as_aligned_as_both_and_what_is_between() -> None:
    assert either("c", scale(T, 16), Affine(32)).divides == 16
    assert either("c", scale(T, 16), Affine(34)).divides == 2
    assert either("c", scale(T, 4), scale(T, 4)) == scale(T, 4)


def test_what_is_said_to_divide_a_value_divides_it() -> None:
    """Random expressions over two numbers, against the numbers."""
    generator = random.Random(5)
    for _ in range(3000):
        numbers = [(T, 0), (N, 0)]
        values = [generator.randrange(0, 64), generator.randrange(0, 4096)]
        exact = list(values)
        forms = [form for form, _ in numbers]
        for _ in range(generator.randrange(1, 7)):
            op = generator.choice(["+", "-", "*", "&", "|", "^", "<<", ">>", "%", "/"])
            i = generator.randrange(len(forms))
            a, b = forms[i], Affine(generator.choice([1, 2, 3, 4, 8, 12, 16, 31, 64]))
            y = b.const
            if generator.random() < 0.4 and op in "+-*&|^":
                j = generator.randrange(len(forms))
                b, y = forms[j], exact[j]
            if op in ("<<", ">>"):
                b, y = Affine(2), 2
            x = exact[i]
            if x < 0 or y < 0 or x > 1 << 40:
                continue
            result = {
                "+": x + y, "-": x - y, "*": x * y, "&": x & y, "|": x | y, "^": x ^ y, "<<": x << y,
                ">>": x >> y, "%": x % y if y else 0, "/": x // y if y else 0,
            }[op]  # fmt: skip
            if op in "%/" and not y:
                continue
            forms.append(combine(op, a, b, positive=True))
            exact.append(result)
        for form, value in zip(forms, exact, strict=True):
            assert (value - form.const) % max(form.divides, 1) == 0, (form, value)
            assert not whole(form) or value % whole(form) == 0
            if not form.terms:
                assert value == form.const


def test_a_shift_keeps_apart_what_differs_below_it_where_the_sign_is_open() -> None:
    """nvcc takes `(8 * t + 1) >> 5` for `(8 * t) >> 5` where t is threadIdx.x or unsigned, not for an int of
    which it knows nothing (LDS.64 [R0]; LDS [R4] and LDS [R5+0x4])."""
    thread = atom("threadIdx", "x", small=True)
    for t, unsigned, alike in ((T, False, False), (T, True, True), (thread, False, True), (N, False, False)):
        x = scale(t, 8)
        above = of(">>", add(x, Affine(1)), 5, unsigned=unsigned)
        assert (of(">>", x, 5, unsigned=unsigned) == above) == alike
        assert bool(add(scale(above, 4), x).dropped) == alike
    below = add(scale(thread, 8), Affine(-1))
    assert of(">>", below, 5, positive=False) != of(">>", scale(thread, 8), 5, positive=False)


def test_a_quotient_and_a_shift_of_what_may_be_negative_are_two_numbers() -> None:
    """(-9) / 8 is -1, and (-9) >> 3 is -2."""
    quotient, shifted = of("/", N, 8, positive=False), of(">>", N, 3, positive=False)
    assert quotient != shifted
    assert quotient == of("/", N, 8, positive=False)
    assert of("/", N, 8, positive=True) == of(">>", N, 3, positive=True)
