"""A deliberately naive interpreter of kernels, to hold the evaluator against.

Each thread of a block is run on its own, with C's exact integer arithmetic and real memory; the lanes of a
warp meet at their accesses, and what they ask for together is one request. Nothing here is shared with the
evaluator but the IR.

What is drawn (`python -m oracle N SEED`), by module: `programs` C in shared arrays, loops, switches and
helpers; `pointing` pointers to several arrays and values in parts; `cxx_programs` references, templates,
lambdas, methods; `modern_programs` bit-fields, bindings, predicated PTX, early returns; `ordinary_values`
hashes, narrow and 64-bit integers, bytes of values, captures, objects with state, specialisations;
`ordinary_memory` unions, packed and odd records in shared memory, vectors, pools, double buffers, tables of
pointers; `ordinary_control` trip counts of each lane, ways out of nested loops, fall-through, machines of
states, counters that wrap, accesses in conditions; `wider_programs` aggregates in part initialised and by
designators, records by value and by reference, derived classes, packs and folds, nested lambdas, ladders,
sums that wrap at 64 bits, pointers to rows and pointers chosen by lane, local bit-fields and unions;
`template_programs` iterators, tiles and sums as class templates, lambdas that give back places or narrow
numbers, packs that hand on references, objects that point to themselves; `loop_programs` counters in all
places, ranges up, down, by factors and by bits, `for`, `while`, `do`, `goto`, steps in conditions, loops that
objects and functions count; `real_programs` what real kernels are put together from: tiles, reductions,
scans, sorts, halos, histograms, transposes, butterflies, wavefronts, roles of warps, carved memory;
`everyday_programs` macros, overloads, operators of vectors, groups, long loops; `production_programs`
counters stepped by an alias, stacks and lists in registers, lambdas called where they stand, accessors with
steps, bases that call what is derived from them, pointers chosen by a switch; `sized_programs` guards by
the size of a problem, which the evaluator takes for large on purpose, and what is made of one. Each with
every number known, with data from memory, and with arguments and grid unknown.
"""

from oracle.run import Request, run
from oracle.values import UndefinedError, UnsupportedError

__all__ = ["Request", "UndefinedError", "UnsupportedError", "run"]
