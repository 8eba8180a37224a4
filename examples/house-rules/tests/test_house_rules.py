import pytest
from house_rules import InterleavedReduction, SharedMemoryBudget

from smemlint.testing import check_rule, findings


@pytest.mark.parametrize("rule", [InterleavedReduction, SharedMemoryBudget])
def test_a_rule_holds_on_its_examples(rule):
    check_rule(rule)


def test_the_budget_counts_all_arrays():
    text = "__global__ void k() { __shared__ int a[3000], b[3000]; a[threadIdx.x] = b[threadIdx.x] = 0; }"
    (found,) = [d for d in findings(text, SharedMemoryBudget, block=(32,)) if d.code == "HOUSE201"]
    assert found.title == "24,000 B of shared memory a block, 16,384 B are allowed"
