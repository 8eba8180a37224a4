"""Reading: every file gives text with exact positions, or one sentence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from smemlint.source import SourceError, read_source, source_from_bytes
from smemlint.source.text import MAX_BYTES


def refusal(raw: bytes) -> SourceError:
    with pytest.raises(SourceError) as caught:
        source_from_bytes("a.cu", raw)
    return caught.value


def test_an_empty_file_is_text() -> None:
    assert source_from_bytes("a.cu", b"").text == ""


def test_positions_count_lines_from_one_and_columns_in_bytes() -> None:
    source = source_from_bytes("a.cu", "a é x\r\nbc\rd\n".encode())
    assert source.position(5) == (1, 6)
    assert source.position(8) == (2, 1)
    assert source.position(11) == (3, 1)
    assert source.line(1) == "a é x"
    assert source.line(2) == "bc"
    assert source.offset(2, 2) == 9
    assert source.offset(99, 1) == len(source.bytes)
    assert source.line(99) == ""


def test_a_byte_order_mark_keeps_offsets_and_leaves_the_line() -> None:
    source = source_from_bytes("a.cu", b"\xef\xbb\xbfint a;")
    assert source.line(1) == "int a;"
    assert len(source.bytes) == 9


def test_bytes_that_are_no_utf8_become_question_marks_of_the_same_length() -> None:
    source = source_from_bytes("a.cu", b"int a; // caf\xe9\nint b;")
    assert not source.valid_utf8
    assert source.bytes == b"int a; // caf?\nint b;"
    assert source.raw == b"int a; // caf\xe9\nint b;"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (b"k << <1, (n >> 2) >> >(p);", b"k <<< 1, (n >> 2) >>> (p);"),
        (b"k<<<f(a >> b), 64 >>\t>(p);", b"k<<<f(a >> b), 64 >>> (p);"),
        (b"k << <g, b>>>(p); A<B<C<int>> > x;", b"k <<< g, b>>>(p); A<B<C<int>> > x;"),
        (b"std::cout << 1; A<B<C<int>> > x;", b"std::cout << 1; A<B<C<int>> > x;"),
        (b"#define U #pragma unroll\nint x;", b"#define U __SMP(unroll) \nint x;"),
        (b"  # define U  #pragma unroll 4\r\n", b"  # define U  __SMP(unroll 4) \r\n"),
        (b"#define U #pragma unroll // all\n", b"#define U __SMP(unroll)  // all\n"),
        (b"#pragma unroll\n", b"#pragma unroll\n"),
    ],
)
def test_what_nvcc_takes_and_clang_does_not_is_respelled_in_place(written: bytes, read: bytes) -> None:
    source = source_from_bytes("a.cu", written)
    assert (source.raw, source.bytes) == (written, read)


def test_a_binary_is_refused_at_its_first_nul() -> None:
    error = refusal(b"\x7fELF\n12\0")
    assert (error.line, error.column) == (2, 3)
    assert "not text" in error.message


def test_utf16_is_named() -> None:
    assert "UTF-16" in refusal("int a;".encode("utf-16")).message


def test_a_file_of_20_megabytes_is_refused_without_being_read(tmp_path: Path) -> None:
    path = tmp_path / "big.cu"
    with path.open("wb") as file:
        file.truncate(20 * 1024 * 1024)
    with pytest.raises(SourceError, match="too large"):
        read_source(path)
    assert "too large" in refusal(b" " * (MAX_BYTES + 1)).message


def test_missing_files_and_folders_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such file"):
        read_source(tmp_path / "none.cu")
    with pytest.raises(SourceError, match="is a directory"):
        read_source(tmp_path)
    with pytest.raises(SourceError, match="cannot be read"):
        read_source("a\0b.cu")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_text("")
    path.chmod(0)
    with pytest.raises(SourceError, match="permission denied"):
        read_source(path)
