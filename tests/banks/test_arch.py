"""The table of architectures."""

from __future__ import annotations

import pytest

from smemlint.banks import ARCHITECTURES, architecture

KIB = 1024


@pytest.mark.parametrize("name", ["sm_90", "sm_90a", "compute_90", "90", "9.0", 90, " SM_90 "])
def test_an_architecture_has_many_spellings(name: str | int) -> None:
    assert architecture(name).name == "sm_90"


@pytest.mark.parametrize("name", ["sm_35", "volta", "", "sm_", "sm_9½"])
def test_an_unknown_architecture_is_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(ValueError, match=r"unknown architecture .*sm_70, sm_72"):
        architecture(name)


def test_a_hopper_block_may_have_227_kib_of_the_228_of_its_multiprocessor() -> None:
    hopper = architecture("sm_90")
    assert (hopper.shared_block, hopper.shared_sm, hopper.shared_static) == (227 * KIB, 228 * KIB, 48 * KIB)


def test_every_block_fits_its_multiprocessor() -> None:
    for arch in ARCHITECTURES:
        assert arch.shared_static <= arch.shared_block
        assert arch.shared_block + arch.shared_reserved <= arch.shared_sm
        assert arch.resident_blocks(arch.threads_block, arch.shared_block) == 1
        assert arch.threads_sm % arch.threads_block == 0 or arch.threads_sm == 1536


def test_the_table_is_in_order_and_names_nothing_twice() -> None:
    numbers = [arch.number for arch in ARCHITECTURES]
    assert numbers == sorted(set(numbers))


@pytest.mark.parametrize(
    ("name", "threads", "shared", "blocks"),
    [
        ("sm_90", 1024, 0, 2),
        ("sm_90", 32, 0, 32),
        ("sm_90", 256, 32 * KIB, 6),
        ("sm_80", 256, 48 * KIB, 3),
        ("sm_75", 256, 32 * KIB, 2),
        ("sm_86", 100, 0, 12),
        ("sm_90", 256, 228 * KIB, 0),
        ("sm_90", 1025, 0, 0),
        ("sm_90", 0, 0, 0),
    ],
)
def test_resident_blocks_follow_from_threads_and_shared_memory(
    name: str, threads: int, shared: int, blocks: int
) -> None:
    assert architecture(name).resident_blocks(threads, shared) == blocks


@pytest.mark.parametrize(
    ("threads", "blocks", "registers"),
    [(256, 2, 128), (256, 3, 80), (512, 2, 64), (128, 2, 255), (33, 16, 64)],
)
def test_registers_of_a_thread_follow_from_threads_and_blocks(
    threads: int, blocks: int, registers: int
) -> None:
    assert architecture("sm_90").registers_for(threads, blocks) == registers
