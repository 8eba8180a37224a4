"""What stands in for the types of a kernel that nothing starts."""

from __future__ import annotations

import pytest

from smemlint.frontend import load
from smemlint.ir import PointerTo, Scalar
from smemlint.launch import infer, started_kernels
from smemlint.launch.source.stand_ins import named_integer, stand_ins, words_of
from smemlint.source import source_from_bytes


def types_of(text: str) -> dict[str, str]:
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    kernel = module.kernels()[-1]
    ids = {p.id: p.name for p in kernel.template}
    return {ids[id]: spelled(t) for id, t in stand_ins(kernel).items()}


def spelled(t: object) -> str:
    if isinstance(t, PointerTo):
        return f"{spelled(t.to)} *"
    assert isinstance(t, Scalar)
    return t.name


def test_a_type_whose_values_index_is_an_integer() -> None:
    text = """
    template <typename A, typename B, typename C> __global__ void k(const A *rows, B n, C *x) {
        __shared__ C s[256];
        A row = rows[threadIdx.x];
        s[row] = x[threadIdx.x];
        x[rows[row + 1]] = s[threadIdx.x % n];
    }
    """
    assert types_of(text) == {"A": "int", "B": "int", "C": "float"}


def test_a_number_that_is_converted_before_it_indexes_says_nothing_of_its_type() -> None:
    text = """
    template <typename T> __global__ void k(T *x) {
        __shared__ T s[256];
        T v = x[threadIdx.x];
        s[(int)(v * 255)] = v;
    }
    """
    assert types_of(text) == {"T": "float"}


def test_bits_are_taken_of_integers() -> None:
    text = """
    template <typename T> __global__ void k(T *keys, int shift) {
        __shared__ T s[256];
        T key = keys[threadIdx.x];
        key >>= 3;
        s[threadIdx.x] = key;
    }
    """
    assert types_of(text) == {"T": "int"}


def test_iterators_are_pointers_to_what_their_name_says() -> None:
    text = """
    namespace std { template <typename T> struct iterator_traits; }
    template <typename IndexIterator, typename It>
    __global__ void k(IndexIterator rows, It x) {
        typename std::iterator_traits<It>::value_type v = x[rows[threadIdx.x]];
        __shared__ typename std::iterator_traits<It>::value_type s[256];
        s[threadIdx.x] = v;
    }
    """
    assert types_of(text) == {"IndexIterator": "int *", "It": "float *"}


def test_the_elements_of_such_an_iterator_have_a_size() -> None:
    text = """
    namespace std { template <typename T> struct iterator_traits; }
    template <typename RowIterator, typename ValueIterator>
    __global__ void k(RowIterator rows, ValueIterator x) {
        __shared__ typename std::iterator_traits<ValueIterator>::value_type s[256];
        s[threadIdx.x] = x[rows[threadIdx.x]];
    }
    """
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    launch, *_ = infer(module.kernels()[0], module, started_kernels(module))
    assert {name: spelled(t) for name, t in launch.template.items()} == {
        "RowIterator": "int *",
        "ValueIterator": "float *",
    }


@pytest.mark.parametrize(
    "name, integer",
    [
        *((n, True) for n in ("IndexType", "index_t", "idx_t", "TIndex", "OffsetT", "size_type", "VertexId")),
        *((n, False) for n in ("T", "ValueType", "in_t", "IndexIterator", "scalar_t", "PointT", "type")),
    ],
)
def test_names_of_integers(name: str, integer: bool) -> None:
    assert named_integer(name) is integer


def test_words_of_a_name() -> None:
    assert words_of("RowIndexType") == ["row", "index"] and words_of("T") == []


def test_a_hidden_type_of_an_index_is_not_tried_as_a_float() -> None:
    text = """
    template <typename index_t, typename scalar_t> __global__ void pick(const index_t *ids, scalar_t *x) {
        __shared__ scalar_t s[256];
        s[threadIdx.x] = x[ids[threadIdx.x]];
    }
    void go(Tensor ids, Tensor x) {
        DISPATCH_INDEX_AND_FLOAT(ids.type(), index_t, x.type(), scalar_t, [&] {
            pick<index_t, scalar_t><<<1, 256>>>(ids.data<index_t>(), x.data<scalar_t>());
        });
    }
    """
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    launches = infer(module.kernels()[0], module, started_kernels(module))
    assert {spelled(x.template["index_t"]) for x in launches} == {"int"}
