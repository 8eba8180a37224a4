"""Pointers into shared memory that wait in structures there: who reads one gets what was written there.

What else lies in such a structure are pointers to other memory, whose accesses are none of shared memory.
"""

from __future__ import annotations

import pytest
from costs import scored

SHARED = (
    "struct Op { float *out; int n; float *rows; int more[2]; } ops[4], op; __shared__ float a[1024], b[1024]"
)

PLACES = [
    pytest.param("op.out = a; __syncthreads(); op.out[t * 4] = 1;", [4], id="as it was written"),
    pytest.param("op.out = a; __syncthreads(); op.rows[t * 4] = 1;", [], id="another member"),
    pytest.param("op.out = a; op.rows = b; __syncthreads(); op.rows[t * 4] = 1;", [4], id="each its own"),
    pytest.param("ops[n].out = a; __syncthreads(); ops[n].rows[t * 4] = 1;", [], id="of one of several"),
    pytest.param("ops[n].out = a; __syncthreads(); ops[n + 1].out[t * 4] = 1;", [4], id="of any of them"),
    pytest.param("ops[t & 3].out = a; __syncthreads(); ops[t & 3].rows[t] = 1;", [], id="by lane"),
    pytest.param(
        "ops[t & 3].out = a; __syncthreads(); ops[(t + 1) & 3].out[t * 4] = 1;", [4], id="of another lane"
    ),
    pytest.param(
        "op.out = a; __syncthreads(); ((double *)op.out)[t] = 1;", [1], id="read as another type by a cast"
    ),
]


@pytest.mark.parametrize(("body", "ways"), PLACES)
def test_a_pointer_is_read_where_it_was_written(body: str, ways: list[float]) -> None:
    found = scored(f"int t = threadIdx.x;\n{body}", shared=SHARED, block=(32, 1, 1))
    through = [c for c in found if c.site.op == "store" and c.site.array.partition("@")[0] in ("a", "b")]
    assert [c.ways for c in through] == ways


def test_a_pointer_that_is_read_as_another_type_leads_to_that_type() -> None:
    body = "op.out = a; __syncthreads();\n(*(double **)&op)[threadIdx.x] = 1;"
    last = scored(body, shared=SHARED, block=(32, 1, 1))[-1]
    assert (last.site.width, last.ways) == (8, 1)
