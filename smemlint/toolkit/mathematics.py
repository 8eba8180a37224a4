"""The mathematical functions of C, which CUDA has for float and double, and its own ones."""

from __future__ import annotations

from smemlint.toolkit.model import PROMOTED, SAME, Effect, Function, rows

MATHEMATICS: tuple[Function, ...] = (
    *rows(
        Effect.ARITHMETIC,
        PROMOTED,
        "sqrt cbrt exp{,2,m1} log{,2,10,1p,b} pow {,a}{sin,cos,tan}{,h} atan2 erf{,c} tgamma"
        " lgamma f{mod,min,max,abs,dim} fma hypot copysign floor ceil round trunc rint"
        " nearbyint ldexp remainder nextafter scalb{,l}n",
    ),
    *rows(Effect.ARITHMETIC, "bool", "is{nan,inf,finite,normal} signbit"),
    *rows(Effect.ARITHMETIC, "long", "l{round,rint}{,f}"),
    *rows(Effect.ARITHMETIC, "long long", "ll{round,rint}{,f}"),
    *rows(Effect.ARITHMETIC, "int", "ilogb{,f}"),
    *rows(
        Effect.ARITHMETIC,
        "float",
        "{sqrt,cbrt,exp,exp2,expm1,log,log2,log10,log1p,logb,pow,erf,erfc,tgamma,lgamma}f"
        " {,a}{sin,cos,tan}{,h}f atan2f f{mod,min,max,abs,dim,ma}f"
        " {hypot,copysign,floor,ceil,round,trunc,rint,nearbyint,ldexp,remainder,nextafter}f"
        " scalb{,l}nf nanf",
    ),
    *rows(Effect.ARITHMETIC, "double", "nan"),
)
"""Those of namespace std, which are visible outside of it, too."""

CUDA_MATHEMATICS: tuple[Function, ...] = (
    *rows(
        Effect.ARITHMETIC,
        SAME,
        "rsqrt exp10 rcbrt {sin,cos}pi erf{inv,cinv,cx} normcdf{,inv} rhypot {,r}norm{3d,4d}"
        " cyl_bessel_i{0,1} fdivide",
    ),
    *rows(
        Effect.ARITHMETIC, SAME, "{j,y}{0,1,n} {,r}norm", declared=False
    ),  # a project's own mean more often
    *rows(
        Effect.ARITHMETIC,
        "float",
        "{rsqrt,exp10,rcbrt,sinpi,cospi,erfinv,erfcinv,erfcx,normcdf,normcdfinv,rhypot}f"
        " {,r}norm{,3d,4d}f {j,y}{0,1,n}f cyl_bessel_i{0,1}f fdividef __saturatef __fdividef"
        " __tanhf __{exp,exp10,exp2,log,log2,log10,pow,sin,cos,tan}f",
    ),
    *rows(Effect.OUTPUTS, "void", "sincos{,pi}{,f} __sincosf"),
    *rows(Effect.OUTPUTS, SAME, "frexp{,f} modf{,f} remquo{,f}"),
    *rows(Effect.ARITHMETIC, "bool", "__isnan{,f,d,l} __isinf{,f,d,l} __finite{,f,d,l} __signbit{,f,d,l}"),
    *rows(Effect.ARITHMETIC, SAME, "{,u,ll,ull}{min,max} {,l,ll}abs", declared=False),
    *rows(
        Effect.ARITHMETIC,
        "",
        "__builtin_{inf,inff,infl,nan,nanf,nanl,huge_val,huge_valf,huge_vall,unreachable,assume,assume_aligned,expect,trap}"
        " __trap __assert_fail",
        declared=False,
    ),
    # Complex numbers of cuComplex.h.
    *rows(Effect.ARITHMETIC, SAME, "cuC{add,sub,mul,div,fma}{,f} cuConj{,f}"),
    *rows(Effect.ARITHMETIC, "float", "cuC{abs,real,imag}f"),
    *rows(Effect.ARITHMETIC, "double", "cuC{abs,real,imag}"),
    *rows(Effect.ARITHMETIC, "float2", "make_cu{Complex,FloatComplex} cuComplexDoubleToFloat"),
    *rows(Effect.ARITHMETIC, "double2", "make_cuDoubleComplex cuComplexFloatToDouble"),
)
