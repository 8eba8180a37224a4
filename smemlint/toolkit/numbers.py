"""Functions of one lane's integers and floats: bits, SIMD in a word, rounding, conversions."""

from __future__ import annotations

from smemlint.toolkit.model import SAME, Effect, Function, rows

_ARITHMETIC = Effect.ARITHMETIC
_WORD = "unsigned int"

INTEGERS: tuple[Function, ...] = (
    *rows(_ARITHMETIC, "int", "__{clz,ffs,popc}{,ll} __mul24 __mad24 __mulhi __dp4a __dp2a_{lo,hi}"),
    *rows(
        _ARITHMETIC,
        _WORD,
        "__brev __byte_perm __umul24 __umad24 __umulhi __{,u}sad __{rh,uh,urh}add __fns"
        " __funnelshift_{l,r}{,c} __nv_bswap32 __pm{0,1,2,3}",
    ),
    *rows(_ARITHMETIC, "unsigned long long", "__brevll __umul64hi __nv_bswap64"),
    *rows(_ARITHMETIC, "long long", "__mul64hi"),
    *rows(_ARITHMETIC, "unsigned short", "__nv_bswap16"),
    *rows(_ARITHMETIC, "unsigned int", "umin umax"),
    *rows(_ARITHMETIC, "long long", "llmin llmax"),
    *rows(_ARITHMETIC, "unsigned long long", "ullmin ullmax"),
)

SIMD: tuple[Function, ...] = (
    *rows(
        _ARITHMETIC,
        _WORD,
        "__vabs{,diffs,diffu,ss}{2,4} __v{add,addss,addus,sub,subss,subus,neg,negss}{2,4}"
        " __v{avg,max,min,sad}{s,u}{2,4} __vhaddu{2,4} __v{cmp,set}{eq,ne}{2,4}"
        " __v{cmp,set}{ge,gt,le,lt}{s,u}{2,4}"
        " __vi{addmax,addmin,max3,min3}_{s16x2,s16x2_relu,u16x2,u32} __vi{max,min}_s16x2_relu"
        " __vib{max,min}_{s16x2,u16x2,u32}",
    ),
    *rows(
        _ARITHMETIC,
        "int",
        "__vi{addmax,addmin,max3,min3}_s32{,_relu} __vi{max,min}_s32_relu __vib{max,min}_s32",
    ),
)
"""Two or four numbers in a word."""

FLOATS: tuple[Function, ...] = (
    *rows(
        _ARITHMETIC,
        "float",
        "__f{add,sub,mul,div}_r{n,z,d,u} __fma{f,f_ieee}_r{n,z,d,u} __f{rcp,sqrt}_r{n,z,d,u} __frsqrt_rn",
    ),
    *rows(
        _ARITHMETIC,
        "double",
        "__d{add,sub,mul,div,rcp,sqrt}_r{n,z,d,u} __fma_r{n,z,d,u}",
    ),
)

CONVERSIONS: tuple[Function, ...] = (
    *rows(
        _ARITHMETIC,
        "int",
        "__{float,double}2int_r{n,z,d,u} __double2{hi,lo}int __{float,half,bfloat16}_as_int",
    ),
    *rows(_ARITHMETIC, _WORD, "__{float,double}2uint_r{n,z,d,u} __float_as_uint"),
    *rows(_ARITHMETIC, "long long", "__{float,double}2ll_r{n,z,d,u} __double_as_longlong"),
    *rows(_ARITHMETIC, "unsigned long long", "__{float,double}2ull_r{n,z,d,u} __double_as_ulonglong"),
    *rows(
        _ARITHMETIC,
        "float",
        "__{int,uint,ll,ull,double}2float_r{n,z,d,u} __{int,uint}_as_float __half2float"
        " __bfloat162float __{low,high}2float",
    ),
    *rows(
        _ARITHMETIC,
        "double",
        "__hiloint2double __{int,uint}2double_rn __{ll,ull}2double_r{n,z,d,u}"
        " __{longlong,ulonglong}_as_double",
    ),
    *rows(_ARITHMETIC, "short", "__half_as_short __bfloat16_as_short"),
    *rows(_ARITHMETIC, "unsigned short", "__half_as_ushort __bfloat16_as_ushort"),
)

_NARROW = (
    ("half", "__half", "half2", "__half2"),
    ("bfloat16", "__nv_bfloat16", "bfloat162", "__nv_bfloat162"),
)
_ROUNDED = (
    ("int", "int"), ("uint", "unsigned int"), ("short", "short"), ("ushort", "unsigned short"),
    ("ll", "long long"), ("ull", "unsigned long long"), ("char", "signed char"), ("uchar", "unsigned char"),
)  # fmt: skip


def _narrow() -> tuple[Function, ...]:
    """To half and bfloat16 and back, for all that cuda_fp16.h and cuda_bf16.h have alike."""
    found: list[Function] = []
    for name, one, pair, two in _NARROW:
        for word, number in _ROUNDED:
            found += rows(_ARITHMETIC, number, f"__{name}2{word}_r{{n,z,d,u}}")
            found += rows(_ARITHMETIC, one, f"__{word}2{name}_r{{n,z,d,u}}")
        found += rows(
            _ARITHMETIC, one, f"__float2{name}{{,_rn,_rz,_rd,_ru}} __double2{name} __{{low,high}}2{name}"
        )
        found += rows(_ARITHMETIC, one, f"__{{short,ushort,int}}_as_{name}")
        found += rows(
            _ARITHMETIC, two, f"__float2{pair}_rn __floats2{pair}_rn __float22{pair}_rn make_{pair}"
        )
        found += rows(_ARITHMETIC, two, f"__{name}2{pair} __halves2{pair} __{{low,high,lows,highs}}2{pair}")
        found += rows(_ARITHMETIC, "float2", f"__{pair}2float2")
    return tuple(found)


NARROW: tuple[Function, ...] = (
    *_narrow(),
    *rows(_ARITHMETIC, "__half2", "__lowhigh2highlow"),
    *rows(
        _ARITHMETIC,
        SAME,
        "__h{add,sub,mul,fma}{,2}{,_rn,_sat} __h{neg,abs,div}{,2} __h2div __hfma{,2}_relu"
        " __hcmadd __h{min,max}{,2}{,_nan} __h{eq,ne,ge,gt,le,lt}{,u}2 __hisnan2"
        " h{,2}{exp,exp2,exp10,log,log2,log10,sqrt,rsqrt,rcp,sin,cos,tanh,tanh_approx}"
        " h{,2}{floor,ceil,trunc,rint}",
    ),
    *rows(_ARITHMETIC, _WORD, "__h{eq,ne,ge,gt,le,lt}{,u}2_mask"),
    *rows(_ARITHMETIC, "bool", "__h{eq,ne,ge,gt,le,lt}{,u} __hb{eq,ne,ge,gt,le,lt}{,u}2 __his{nan,inf}"),
    *rows(
        _ARITHMETIC,
        "unsigned char",
        "__nv_cvt_{float,double,halfraw,bfloat16raw}_to_{fp8,fp6,fp4,e8m0}"
        " __nv_cvt_{float2,double2,halfraw2,bfloat16raw2}_to_fp4x2",
    ),
    *rows(
        _ARITHMETIC,
        "unsigned short",
        "__nv_cvt_{float2,double2,halfraw2,bfloat16raw2}_to_{fp8,fp6}x2"
        " __nv_cvt_{float2,double2,bfloat162raw}_to_e8m0x2",
    ),
    *rows(_ARITHMETIC, "__half_raw", "__nv_cvt_{fp8,fp6,fp4}_to_halfraw"),
    *rows(_ARITHMETIC, "__half2_raw", "__nv_cvt_{fp8,fp6,fp4}x2_to_halfraw2"),
    *rows(_ARITHMETIC, "__nv_bfloat16_raw", "__nv_cvt_e8m0_to_bf16raw"),
    *rows(_ARITHMETIC, "__nv_bfloat162_raw", "__nv_cvt_e8m0x2_to_bf162raw"),
)
"""Floats of 16 bits and less."""

VECTORS: tuple[Function, ...] = tuple(
    rows(
        _ARITHMETIC,
        SAME,
        "__half{,2,_raw} __nv_bfloat16{,2,_raw} __float_to_tf32"
        " make_{,u}{char,short,int,long,longlong}{1,2,3,4} make_{float,double}{1,2,3,4}",
        declared=False,
    )
)
