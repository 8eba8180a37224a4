"""Loads, stores, atomics, address spaces, textures, random numbers."""

from __future__ import annotations

from smemlint.toolkit.model import POINTEE, TEXEL, Effect, Function, rows

MEMORY: tuple[Function, ...] = (
    *rows(Effect.LOAD, POINTEE, "__ld{g,ca,cg,cs,lu,cv}"),
    *rows(Effect.STORE, "void", "__st{wb,cg,cs,wt} __pipeline_memcpy_async __nvvm_memcpy_async"),
    *rows(
        Effect.ATOMIC,
        POINTEE,
        "atomic{Add,Sub,Exch,Min,Max,Inc,Dec,CAS,And,Or,Xor}{,_block,_system}"
        " __nv_atomic_{load,exchange,compare_exchange}_n"
        " __nv_atomic_fetch_{add,sub,and,or,xor,min,max}",
    ),
    *rows(
        Effect.ATOMIC,
        "void",
        "__nv_atomic_{load,store,exchange,store_n} __nv_atomic_{add,sub,and,or,xor,min,max}",
    ),
    *rows(Effect.NONE, "size_t", "__cvta_generic_to_{shared,global,constant,local}"),
    *rows(
        Effect.NONE, "void*", "__cvta_{shared,global,constant,local}_to_generic __nv_aligned_device_malloc"
    ),
    *rows(
        Effect.NONE, "unsigned int", "__nvvm_get_smem_pointer __is{Shared,Global,Constant,Local,GridConstant}"
    ),
    *rows(Effect.NONE, "bool", "__nv_is_shared"),
    *rows(Effect.NONE, "", "__builtin_prefetch assert __assert", declared=False),
)

# Older forms of these write to a pointer; of the others nothing changes.
TEXTURES: tuple[Function, ...] = (
    *rows(
        Effect.STORE,
        TEXEL,
        "tex{1D,2D,3D}{,Lod,Grad} tex1Dfetch tex{1D,2D}Layered{,Lod,Grad} tex2Dgather"
        " texCubemap{,Lod,Grad} texCubemapLayered{,Lod,Grad}"
        " surf{1D,2D,3D,1DLayered,2DLayered,Cubemap,CubemapLayered}read",
    ),
    *rows(Effect.STORE, "void", "surf{1D,2D,3D,1DLayered,2DLayered,Cubemap,CubemapLayered}write"),
)

# The generator's state lies where an argument points to, which may be shared memory.
RANDOM: tuple[Function, ...] = (
    *rows(Effect.STORE, "void", "curand_init skipahead{,_sequence,_subsequence}"),
    *rows(Effect.STORE, "unsigned int", "curand curand_poisson curand_discrete"),
    *rows(Effect.STORE, "uint4", "curand4 curand_poisson4"),
    *rows(Effect.STORE, "float", "curand_{uniform,normal,log_normal}"),
    *rows(Effect.STORE, "float2", "curand_{normal,log_normal}2"),
    *rows(Effect.STORE, "float4", "curand_{uniform,normal,log_normal}4"),
    *rows(Effect.STORE, "double", "curand_{uniform,normal,log_normal}_double"),
    *rows(Effect.STORE, "double2", "curand_{uniform,normal,log_normal}2_double"),
)
