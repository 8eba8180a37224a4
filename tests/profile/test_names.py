"""Kernel names as a profiler prints them, held against the instances that are told."""

from __future__ import annotations

from smemlint.profile.names import agrees, template_arguments


def test_a_pack_stands_for_as_many_arguments_as_it_holds() -> None:
    measured = template_arguments("void k<(int)1, (int)2, float>(float *)")
    assert agrees(measured, ["1, 2", "float"])
    assert not agrees(measured, ["1, 3", "float"])
