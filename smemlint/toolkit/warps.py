"""What lanes do together: barriers, votes, shuffles."""

from __future__ import annotations

from smemlint.toolkit.model import SAME, SECOND, Effect, Function, rows

WARPS: tuple[Function, ...] = (
    *rows(Effect.BARRIER, "void", "__syncthreads", declared=False),
    *rows(Effect.BARRIER, "int", "__syncthreads_{and,or,count}"),
    *rows(
        Effect.BARRIER,
        "void",
        "__syncwarp __threadfence{,_block,_system} __barrier_sync{,_count} __pipeline_{commit,wait_prior}",
    ),
    *rows(Effect.EXCHANGE, "unsigned int", "__activemask __ballot{,_sync} __match_any_sync"),
    *rows(Effect.EXCHANGE, "int", "__{all,any,uni}{,_sync}"),
    *rows(Effect.EXCHANGE, SAME, "__shfl{,_up,_down,_xor}"),
    *rows(Effect.EXCHANGE, SECOND, "__shfl{,_up,_down,_xor}_sync __reduce_{add,min,max,and,or,xor}_sync"),
    *rows(Effect.NONE, "unsigned int", "__lanemask_{eq,lt,le,gt,ge} __nvvm_get_smid"),
    *rows(Effect.NONE, "void", "__nanosleep __prof_trigger"),
    *rows(Effect.STORE, "unsigned int", "__match_all_sync"),
    *rows(Effect.STORE, "void", "__pipeline_arrive_on"),
    *rows(Effect.NONE, "void", "cudaGridDependencySynchronize cudaTriggerProgrammaticLaunchCompletion"),
    *rows(Effect.NONE, "long", "clock"),
    *rows(Effect.NONE, "long long", "clock64"),
    *rows(Effect.NONE, "unsigned long long", "globaltimer"),
)
