"""Which members of a record are used after it was loaded as a whole."""

from __future__ import annotations

from costs import scored


def widths(body: str, shared: str = "float4 s[256]") -> list[int]:
    """Bytes of each load that runs, one after the other."""
    found = scored("int t = threadIdx.x;\n" + body, shared=shared)
    return [c.joined or c.site.width for c in found if c.site.op == "load" and c.executions]


def test_one_member_that_is_used_is_loaded_alone() -> None:
    assert widths("float4 v = s[t]; out[t] = v.y;") == [4]


def test_two_members_of_one_half_are_one_load() -> None:
    assert widths("float4 v = s[t]; out[t] = v.x + v.y;") == [8]


def test_three_members_are_loaded_with_the_fourth() -> None:
    assert widths("float4 v = s[t]; out[t] = v.x + v.y + v.z;") == [16]


def test_a_copy_is_used_as_its_own_members_are() -> None:
    assert widths("float4 v = s[t]; float4 w = v; out[t] = w.z;") == [4]
    assert widths("float4 v = s[t]; float4 w = v; out[t] = w.x + v.y;") == [8]


def test_what_goes_elsewhere_as_a_whole_is_loaded_whole() -> None:
    assert widths("float4 v = s[t]; ((float4*)out)[t] = v; out[0] = v.x;") == [16]


def test_a_variable_that_is_set_again_has_its_members_used_of_every_load() -> None:
    assert widths(
        "float4 v = s[t];\n#pragma unroll 1\nfor (int i = 0; i < n; i++) { out[i] = v.x;\n v = s[t + i]; }"
    ) == [4, 4]


def test_a_lambda_uses_members_as_the_code_around_it_does() -> None:
    assert widths("float4 v = s[t]; auto f = [&](float x) { return x * v.w; }; out[t] = f(2.f) + v.x;") == [4]
