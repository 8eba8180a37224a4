"""For tests of rules of one's own: a rule is run on its examples, installed or not.

from smemlint.testing import check_rule

def test_the_rule() -> None:
    check_rule(MyRule)
"""

from __future__ import annotations

from collections.abc import Sequence

from smemlint.diagnose.model import Diagnostic
from smemlint.rules import ConflictRule, Kernel, Rule, Severity
from smemlint.rules.added import using
from smemlint.rules.base import OTHER_HEADINGS, SLOW_HEADINGS
from smemlint.rules.words import ways_text

__all__ = ["check_rule", "findings"]


def check_rule(rule: type[Rule]) -> None:
    """Check a rule against its own examples and documentation.

    It must find each of `conflicting`, with the ways that the example states, and none of `clean`; it must
    have one of each; its docstring must have a summary that ends with a full stop, and the fixed headings.

    Raises: AssertionError that says what does not hold; ValueError for a class that is no usable rule.
    """
    expected = SLOW_HEADINGS if issubclass(rule, ConflictRule) else OTHER_HEADINGS
    assert rule.summary().endswith("."), "the first paragraph of the docstring is no sentence"
    assert tuple(rule.sections()) == expected, f"the headings are not {', '.join(expected)}"
    assert rule.conflicting, "there is no example in `conflicting`"
    assert rule.clean, "there is no example in `clean`"
    for example in rule.conflicting:
        told = findings(example, rule)
        assert any(d.code == rule.code for d in told), f"{rule.code} misses{_shown(example, told)}"
        worst = max(d.worst_ways or 0 for d in told)
        if example.ways > 1:
            assert ways_text(worst) == ways_text(example.ways), f"{worst:g} ways{_shown(example, told)}"
    for example in rule.clean:
        told = findings(example, rule)
        assert all(d.code != rule.code for d in told), f"{rule.code} should not find{_shown(example, told)}"


def findings(
    example: Kernel | str, *rules: type[Rule], block: Sequence[int] | None = None
) -> list[Diagnostic]:
    """Everything that smemlint and these rules say of an example, notes included.

    example: a Kernel, or the text of a CUDA source. block: the block shape of all its kernels, where the text
    does not start them.

    Raises: AssertionError where the example cannot be analysed, or a rule fails; ValueError for a class that
    is no usable rule.
    """
    from smemlint.api import Job, Options, View, analyse_file, collect

    path = "example.cu"
    shape = example.block if isinstance(example, Kernel) else block
    text = example.source() if isinstance(example, Kernel) else example
    blocks = {"": (*shape, 1, 1)[:3]} if shape is not None else {}
    with using(*rules):
        report = analyse_file(Job(path, Options(blocks=blocks, suggest=False), text))  # type: ignore[arg-type]
        told = collect([report], View(level=Severity.NOTE), {path: text})
    assert not report.problems, "\n".join(str(p) for p in report.problems)
    assert report.kernels, f"no kernel is seen in\n{text}"
    assert not report.unparsed, f"a part is not parsed: {report.unparsed[0].reason}\n{text}"
    return list(told.diagnostics)


def _shown(example: Kernel, told: Sequence[Diagnostic]) -> str:
    found = "".join(f"\n  {d.code} {d.title}" for d in told) or " nothing"
    return f"\n{example.source()}found:{found}"
