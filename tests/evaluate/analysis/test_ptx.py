"""Inline PTX: what each text does to memory."""

import subprocess
import sys

import pytest

from smemlint.evaluate.analysis.ptx import (
    PtxAccess,
    PtxAddress,
    PtxArgument,
    PtxBranch,
    PtxCompute,
    PtxImmediate,
    PtxOutside,
    PtxPredicate,
    PtxRegister,
    PtxSpecial,
    PtxUnknown,
    PtxUnread,
    parse,
)


def access(text: str) -> PtxAccess:
    found = [i for i in parse(text) if isinstance(i, PtxAccess)]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize(
    ("text", "op", "width", "matrices", "operand"),
    [
        ("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n", "ldmatrix", 16, 4, 4),
        ("ldmatrix.sync.aligned.x2.trans.m8n8.shared::cta.b16 {%0,%1}, [%2];", "ldmatrix", 16, 2, 2),
        ("ldmatrix.sync.aligned.m8n8.x1.b16 {%0}, [%1];", "ldmatrix", 16, 1, 1),
        ("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {_, %0, _, %1}, [%2];", "ldmatrix", 16, 4, 2),
        ("ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 {%0, %1, %2, %3}, [%4];", "ldmatrix", 16, 4, 4),
        ("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};", "stmatrix", 16, 2, 0),
        ("stmatrix.sync.aligned.x4.m8n8.shared.b16.trans [%0], {%1, %2, %3, %4};", "stmatrix", 16, 4, 0),
        ("ld.shared.f32 %0, [%1];", "load", 4, 1, 1),
        ("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];", "load", 16, 1, 4),
        ("ld.relaxed.cta.shared::cta.v2.f64 {%0, %1}, [%2];", "load", 16, 1, 2),
        ("ld.shared.u8 {%0}, [%1];", "load", 1, 1, 1),
        ("st.shared.b128 [%0], %1;", "store", 16, 1, 0),
        ("st.shared.v2.u16 [%0], {%1, %2};", "store", 4, 1, 0),
        ("atom.shared.add.u32 %0, [%1], %2;", "atomic", 4, 1, 1),
        ("atom.acq_rel.cta.shared::cta.cas.b64 %0, [%1], %2, %3;", "cas", 8, 1, 1),
        ("red.shared.add.noftz.f16x2 [%0], %1;", "atomic", 4, 1, 0),
        ("red.shared.add.u32 [%0], 1;", "increment", 4, 1, 0),
        ("cp.async.ca.shared.global [%0], [%1], 4;", "cp.async", 4, 1, 0),
        ("cp.async.cg.shared::cta.global.L2::128B [%0], [%1], 16, %2;", "cp.async", 16, 1, 0),
    ],
)
def test_an_access_tells_its_operation_width_and_address(
    text: str, op: str, width: int, matrices: int, operand: int
) -> None:
    found = access(text)
    assert (found.op, found.width, found.matrices) == (op, width, matrices)
    assert found.address == PtxAddress(PtxArgument(operand))


def test_the_size_of_a_copy_may_be_an_operand() -> None:
    found = access("cp.async.ca.shared.global.L2::128B [%0], [%1], %2, %3;")
    assert found.width is None
    assert found.size == PtxArgument(2)


def test_a_generic_access_has_no_space_and_a_global_one_is_not_listed() -> None:
    assert access("ld.acquire.gpu.b32 %0, [%1];").space == ""
    assert parse("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];") == (
        PtxUnknown("ld.global.nc.v4.f32", tuple(PtxArgument(i) for i in range(4))),
    )


def test_an_address_has_a_constant_and_a_second_operand() -> None:
    assert access("ld.shared.f32 %0, [%1+64];").address == PtxAddress(PtxArgument(1), 64)
    assert access("ld.shared.f32 %0, [%1 + -8];").address == PtxAddress(PtxArgument(1), -8)
    assert access("st.shared.b32 [%0 + %1], %2;").address == PtxAddress(PtxArgument(0), 0, PtxArgument(1))


def test_predicates_follow_the_register_they_came_from() -> None:
    text = """{
      .reg .pred p;
      setp.ne.b32 p, %0, 0;
      @p cp.async.cg.shared.global [%1], [%2], 16;   // the guarded copy
      @!p st.shared.v4.u32 [%1], {%4, %5, %6, %7};
    }"""
    compare, copy, store = parse(text)
    p = PtxRegister("p")
    assert compare == PtxCompute(p, "setp.ne", (PtxArgument(0), PtxImmediate(0)), "b32", "b32")
    assert isinstance(copy, PtxAccess) and copy.predicate == PtxPredicate(p)
    assert isinstance(store, PtxAccess) and store.predicate == PtxPredicate(p, negated=True)


def test_an_address_made_inside_the_text_can_be_followed() -> None:
    text = "{ .reg .u32 smem_ptr; add.u32 smem_ptr, %0, %1; st.shared.v2.u32 [smem_ptr], {%2, %3}; }"
    add, store = parse(text)
    assert add == PtxCompute(PtxRegister("smem_ptr"), "add", (PtxArgument(0), PtxArgument(1)), "u32", "u32")
    assert isinstance(store, PtxAccess) and store.address == PtxAddress(PtxRegister("smem_ptr"))


def test_a_change_of_address_space_keeps_its_direction() -> None:
    text = "{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }"
    into, narrow = parse(text)
    assert into == PtxCompute(PtxRegister("t"), "to_shared", (PtxArgument(1),), "u64", "u64")
    assert narrow == PtxCompute(PtxArgument(0), "cvt", (PtxRegister("t"),), "u32", "u64")
    assert isinstance(back := parse("cvta.shared.u64 %0, %1;")[0], PtxCompute)
    assert back.operator == "from_shared"


@pytest.mark.parametrize("register", ["%laneid", "%%laneid"])
def test_special_registers_have_the_names_of_the_language(register: str) -> None:
    (move,) = parse(f"mov.u32 %0, {register};")
    assert isinstance(move, PtxCompute)
    assert (move.destination, move.operands) == (PtxArgument(0), (PtxSpecial("laneid"),))
    (tid,) = parse("mov.u32 %0, %tid.y;")
    assert isinstance(tid, PtxCompute) and tid.operands == (PtxSpecial("threadIdx", "y"),)


def test_wide_multiplication_tells_both_types() -> None:
    (wide,) = parse("mad.wide.u32 %0, %1, 4, %2;")
    assert isinstance(wide, PtxCompute)
    assert (wide.operator, wide.type, wide.source_type) == ("mad.wide", "u64", "u32")


@pytest.mark.parametrize(
    "text",
    [
        "cp.async.wait_group 0;",
        "cp.async.commit_group;\n",
        "bar.sync %0, %1;",
        "fence.proxy.async.shared::cta;",
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};",
        "barrier.cluster.arrive.relaxed.aligned;",
        "membar.gl;",
    ],
)
def test_what_touches_no_shared_memory_is_only_unknown(text: str) -> None:
    assert all(isinstance(i, PtxUnknown) for i in parse(text))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
            "[%0], [%1, {%3, %4}], [%2];",
            "bulk copy",
        ),
        ("mbarrier.init.shared::cta.b64 [%0], %1;", "barrier object"),
        ("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];", "barrier object"),
        ("{.reg .b64 s; atom.shared.arrive.b64 s, [%0];}", "barrier object"),
        ("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];", "another block"),
        ("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%0,%1}, [%2], %3;", "wmma"),
        (
            "{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\nwgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
            "{%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0;\n}\n",
            "wgmma",
        ),
    ],
)
def test_other_ways_to_shared_memory_are_named(text: str, reason: str) -> None:
    outside = [i for i in parse(text) if isinstance(i, PtxOutside)]
    assert len(outside) == 1
    assert reason in outside[0].reason


def test_a_loop_inside_the_text_is_seen() -> None:
    text = """{
        .reg .pred P3;
        .reg .s32 high, low;
        LAB_WAIT_%=:
        ld.volatile.shared.v2.s32 { low, high }, [%0];
        shr.u32 high, high, 31;
        setp.ne.u32 P3, high, %1;
        @P3 bra.uni DONE;
        bra.uni LAB_WAIT_%=;
        DONE:
    }"""
    kinds = [type(i) for i in parse(text)]
    assert kinds == [PtxAccess, PtxCompute, PtxCompute, PtxBranch, PtxBranch]


def test_the_halves_of_a_wide_register_are_two_results() -> None:
    assert parse("{ .reg .b32 t; mov.b64 {t, %0}, %1; }") == tuple(
        PtxCompute(to, "part", (PtxArgument(1), PtxImmediate(n)), "u32", "u64")
        for n, to in enumerate((PtxRegister("t"), PtxArgument(0)))
    )


def test_a_result_of_float_or_vector_work_is_spoiled_and_nothing_else() -> None:
    assert parse("mov.b64 {%0, %1, %2, %3}, %4;") == (
        PtxUnknown("mov.b64", tuple(PtxArgument(i) for i in range(4))),
    )
    assert parse("add.f32 %0, %1, %2;") == (PtxUnknown("add.f32", (PtxArgument(0),)),)


@pytest.mark.parametrize("text", ["movl $1,%%eax\n\txchg %%eax,%0", "ld.shared.f32 %0 [%1", "{", "}"])
def test_text_that_is_no_ptx_is_given_back(text: str) -> None:
    assert parse(text) == (PtxUnread(text, touches=".shared" in text),)


def test_empty_text_does_nothing() -> None:
    assert parse("") == ()
    assert parse(" ;\n // only a comment\n") == ()


def test_lark_is_not_imported_for_texts_that_touch_no_address() -> None:
    program = (
        "import sys\n"
        "from smemlint.evaluate.analysis.ptx import parse\n"
        "parse('membar.gl;'); parse('cp.async.wait_all;')\n"
        "sys.exit('lark' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
