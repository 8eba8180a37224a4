"""Kernel names as a profiler prints them, held against the instances that are told."""

from __future__ import annotations

from smemlint.profile.names import agrees, base_name, template_arguments


def test_a_pack_stands_for_as_many_arguments_as_it_holds() -> None:
    measured = template_arguments("void k<(int)1, (int)2, float>(float *)")
    assert agrees(measured, ["1, 2", "float"])
    assert not agrees(measured, ["1, 3", "float"])


def test_pointers_to_pointers_are_spelled_in_one_way() -> None:
    assert agrees(template_arguments("void k<int **>(float *)"), ["int * *"])


def test_what_a_kernel_returns_may_compare_its_arguments() -> None:
    returned = "std::enable_if<T2>(int)0&&n::kind<T1>::exists, void>::type"
    name = f"{returned} n::k<float, (int)8>(T1 *, void (*)(int))"
    assert base_name(name) == "k" and template_arguments(name) == ["float", "8"]
    assert base_name("void n::f<(int)3>(float *)") == base_name("f") == "f"
