// Narrow floats and the functions of the CUDA device run time. Calls are recognised by name; the bodies are nobody's business.
// Declared as templates without bodies: an overload that a program brings along wins, and none is redefined.

// 2-byte and 1-byte floats, which compute as float.
// Their operators are friends that only their own arguments find: elsewhere `a * b` stays an operator, not a call.
#define SMEMLINT_NARROW(N, raw)                                                                       \
    struct N {                                                                                        \
        raw __x;                                                                                      \
        N() = default;                                                                                \
        template <class T, class = decltype(float(*(T*)0))> constexpr N(T) : __x(0) {}                \
        constexpr operator float() const { return 0; }                                                \
        template <class T> N& operator+=(T); template <class T> N& operator-=(T);                     \
        template <class T> N& operator*=(T); template <class T> N& operator/=(T);                     \
        N& operator++(); N& operator--(); N operator++(int); N operator--(int);                       \
        friend N operator+(N, N); friend N operator-(N, N); friend N operator*(N, N); friend N operator/(N, N);             \
        friend bool operator<(N, N); friend bool operator>(N, N); friend bool operator<=(N, N); friend bool operator>=(N, N); \
        friend bool operator==(N, N); friend bool operator!=(N, N); friend N operator-(N); friend N operator+(N);           \
        SMEMLINT_MIXED(N, int, +, -, *, /) SMEMLINT_MIXED(N, unsigned, +, -, *, /)                    \
        SMEMLINT_MIXED(N, float, +, -, *, /) SMEMLINT_MIXED(N, double, +, -, *, /)                    \
    };
#define SMEMLINT_MIXED(N, T, a, b, c, d)                                                              \
    friend float operator a(N, T); friend float operator b(N, T); friend float operator c(N, T); friend float operator d(N, T); \
    friend float operator a(T, N); friend float operator b(T, N); friend float operator c(T, N); friend float operator d(T, N); \
    friend bool operator<(N, T); friend bool operator>(N, T); friend bool operator<=(N, T); friend bool operator>=(N, T);       \
    friend bool operator==(N, T); friend bool operator!=(N, T); friend bool operator<(T, N); friend bool operator>(T, N);       \
    friend bool operator==(T, N); friend bool operator!=(T, N);
SMEMLINT_NARROW(__half, unsigned short)
SMEMLINT_NARROW(__nv_bfloat16, unsigned short)
SMEMLINT_NARROW(__nv_fp8_e4m3, unsigned char)
SMEMLINT_NARROW(__nv_fp8_e5m2, unsigned char)
SMEMLINT_NARROW(__nv_fp8_e8m0, unsigned char)
SMEMLINT_NARROW(__nv_fp4_e2m1, unsigned char)
SMEMLINT_NARROW(__nv_fp6_e2m3, unsigned char)
SMEMLINT_NARROW(__nv_fp6_e3m2, unsigned char)
#undef SMEMLINT_MIXED
#undef SMEMLINT_NARROW
typedef __half half;
typedef __half __nv_half;
typedef __nv_bfloat16 nv_bfloat16;
struct __half_raw { unsigned short x; };
struct __nv_bfloat16_raw { unsigned short x; };
#define SMEMLINT_PAIR(N, E)                                                                             \
    struct alignas(2 * sizeof(E)) N {                                                                   \
        E x, y;                                                                                         \
        N() = default;                                                                                  \
        constexpr N(E a, E b) : x(a), y(b) {}                                                           \
        N& operator+=(N); N& operator-=(N); N& operator*=(N); N& operator/=(N);                         \
        friend N operator+(N, N); friend N operator-(N, N); friend N operator*(N, N); friend N operator/(N, N); \
        friend N operator-(N); friend bool operator==(N, N); friend bool operator!=(N, N);              \
        friend bool operator<(N, N); friend bool operator>(N, N);                                       \
    };
SMEMLINT_PAIR(__half2, __half)
SMEMLINT_PAIR(__nv_bfloat162, __nv_bfloat16)
#undef SMEMLINT_PAIR
typedef __half2 half2;
typedef __half2 __nv_half2;
typedef __nv_bfloat162 nv_bfloat162;
#define SMEMLINT_PACKED(N, raw) \
    struct N { raw __x; N() = default; template <class T> explicit N(T); template <class T> explicit operator T() const; };
SMEMLINT_PACKED(__nv_fp8x2_e4m3, unsigned short) SMEMLINT_PACKED(__nv_fp8x4_e4m3, unsigned int)
SMEMLINT_PACKED(__nv_fp8x2_e5m2, unsigned short) SMEMLINT_PACKED(__nv_fp8x4_e5m2, unsigned int)
SMEMLINT_PACKED(__nv_fp8x2_e8m0, unsigned short) SMEMLINT_PACKED(__nv_fp8x4_e8m0, unsigned int)
SMEMLINT_PACKED(__nv_fp4x2_e2m1, unsigned char) SMEMLINT_PACKED(__nv_fp4x4_e2m1, unsigned short)
#undef SMEMLINT_PACKED
typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };
struct cuComplex_ { float x, y; };
typedef float2 cuFloatComplex;
typedef float2 cuComplex;
typedef double2 cuDoubleComplex;
typedef float2 cufftComplex;
typedef double2 cufftDoubleComplex;
typedef float cufftReal;
typedef double cufftDoubleReal;

#define SMEMLINT_VOID(n) SMEMLINT_FUNCTION(void, n)
#define SMEMLINT_INT(n) SMEMLINT_FUNCTION(int, n)
#define SMEMLINT_UINT(n) SMEMLINT_FUNCTION(unsigned int, n)
#define SMEMLINT_FLOAT(n) SMEMLINT_FUNCTION(float, n)
#define SMEMLINT_DOUBLE(n) SMEMLINT_FUNCTION(double, n)
#define SMEMLINT_HALF(n) SMEMLINT_FUNCTION(__half, n)
#define SMEMLINT_HALF2(n) SMEMLINT_FUNCTION(__half2, n)
#define SMEMLINT_BF16(n) SMEMLINT_FUNCTION(__nv_bfloat16, n)
#define SMEMLINT_BF162(n) SMEMLINT_FUNCTION(__nv_bfloat162, n)
// The result is of the first argument's type; what a caller names explicitly comes first.
#define SMEMLINT_SAME(n) template <class T, class... A> T n(T, A...);
// The result is what the first argument points to.
#define SMEMLINT_POINTEE(n) template <class T, class... A> T n(T*, A...); template <class T, class... A> T n(const T*, A...); \
    template <class T, class... A> T n(volatile T*, A...);

// Synchronisation and votes.
extern "C" int __syncthreads_and(int);
extern "C" int __syncthreads_or(int);
extern "C" int __syncthreads_count(int);
SMEMLINT_VOID(__syncwarp) SMEMLINT_VOID(__threadfence) SMEMLINT_VOID(__threadfence_block)
SMEMLINT_VOID(__threadfence_system) SMEMLINT_VOID(__nanosleep) SMEMLINT_VOID(__prof_trigger) SMEMLINT_VOID(__pipeline_commit)
SMEMLINT_VOID(__pipeline_wait_prior) SMEMLINT_VOID(__pipeline_memcpy_async) SMEMLINT_VOID(__pipeline_arrive_on)
SMEMLINT_VOID(__nvvm_memcpy_async) SMEMLINT_VOID(__barrier_sync) SMEMLINT_VOID(__barrier_sync_count)
SMEMLINT_VOID(cudaGridDependencySynchronize) SMEMLINT_VOID(cudaTriggerProgrammaticLaunchCompletion)
SMEMLINT_UINT(__activemask) SMEMLINT_UINT(__ballot_sync) SMEMLINT_UINT(__ballot) SMEMLINT_INT(__all_sync) SMEMLINT_INT(__any_sync)
SMEMLINT_INT(__uni_sync) SMEMLINT_INT(__all) SMEMLINT_INT(__any) SMEMLINT_UINT(__match_any_sync) SMEMLINT_UINT(__match_all_sync)
SMEMLINT_UINT(__lanemask_lt) SMEMLINT_UINT(__isShared) SMEMLINT_UINT(__isGlobal) SMEMLINT_UINT(__fns)
SMEMLINT_SAME(__shfl) SMEMLINT_SAME(__shfl_up) SMEMLINT_SAME(__shfl_down) SMEMLINT_SAME(__shfl_xor)
template <class T, class... A> T __shfl_sync(unsigned int, T, A...);
template <class T, class... A> T __shfl_up_sync(unsigned int, T, A...);
template <class T, class... A> T __shfl_down_sync(unsigned int, T, A...);
template <class T, class... A> T __shfl_xor_sync(unsigned int, T, A...);
template <class T> T __reduce_add_sync(unsigned int, T); template <class T> T __reduce_min_sync(unsigned int, T);
template <class T> T __reduce_max_sync(unsigned int, T); template <class T> T __reduce_and_sync(unsigned int, T);
template <class T> T __reduce_or_sync(unsigned int, T); template <class T> T __reduce_xor_sync(unsigned int, T);

// Memory.
SMEMLINT_POINTEE(__ldg) SMEMLINT_POINTEE(__ldca) SMEMLINT_POINTEE(__ldcg) SMEMLINT_POINTEE(__ldcs) SMEMLINT_POINTEE(__ldlu)
SMEMLINT_POINTEE(__ldcv) SMEMLINT_VOID(__stwb) SMEMLINT_VOID(__stcg) SMEMLINT_VOID(__stcs) SMEMLINT_VOID(__stwt)
SMEMLINT_FUNCTION(size_t, __cvta_generic_to_shared) SMEMLINT_FUNCTION(size_t, __cvta_generic_to_global)
SMEMLINT_FUNCTION(void*, __cvta_shared_to_generic) SMEMLINT_FUNCTION(unsigned int, __nvvm_get_smem_pointer)
SMEMLINT_FUNCTION(void*, __builtin_alloca_) SMEMLINT_FUNCTION(bool, __nv_is_shared)
SMEMLINT_FUNCTION(unsigned int, cast_smem_ptr_to_uint_)
#define SMEMLINT_ATOMIC(n) SMEMLINT_POINTEE(n) SMEMLINT_POINTEE(n##_block) SMEMLINT_POINTEE(n##_system)
SMEMLINT_ATOMIC(atomicAdd) SMEMLINT_ATOMIC(atomicSub) SMEMLINT_ATOMIC(atomicExch) SMEMLINT_ATOMIC(atomicMin)
SMEMLINT_ATOMIC(atomicMax) SMEMLINT_ATOMIC(atomicInc) SMEMLINT_ATOMIC(atomicDec) SMEMLINT_ATOMIC(atomicCAS)
SMEMLINT_ATOMIC(atomicAnd) SMEMLINT_ATOMIC(atomicOr) SMEMLINT_ATOMIC(atomicXor)
#undef SMEMLINT_ATOMIC
SMEMLINT_POINTEE(__nv_atomic_load_n) SMEMLINT_VOID(__nv_atomic_store_n) SMEMLINT_POINTEE(__nv_atomic_fetch_add)
SMEMLINT_POINTEE(__nv_atomic_exchange_n)

// Integers.
SMEMLINT_UINT(__brev) SMEMLINT_FUNCTION(unsigned long long, __brevll) SMEMLINT_INT(__clz) SMEMLINT_INT(__clzll)
SMEMLINT_INT(__ffs) SMEMLINT_INT(__ffsll) SMEMLINT_INT(__popc) SMEMLINT_INT(__popcll) SMEMLINT_UINT(__byte_perm)
SMEMLINT_INT(__mul24) SMEMLINT_UINT(__umul24) SMEMLINT_INT(__mulhi) SMEMLINT_UINT(__umulhi) SMEMLINT_INT(__hadd_)
SMEMLINT_FUNCTION(unsigned long long, __umul64hi) SMEMLINT_FUNCTION(long long, __mul64hi) SMEMLINT_UINT(__sad)
SMEMLINT_UINT(__usad) SMEMLINT_UINT(__rhadd) SMEMLINT_UINT(__uhadd) SMEMLINT_UINT(__urhadd)
SMEMLINT_UINT(__funnelshift_l) SMEMLINT_UINT(__funnelshift_r) SMEMLINT_UINT(__funnelshift_lc) SMEMLINT_UINT(__funnelshift_rc)
SMEMLINT_INT(__dp4a) SMEMLINT_INT(__dp2a_lo) SMEMLINT_INT(__dp2a_hi) SMEMLINT_UINT(__vadd2) SMEMLINT_UINT(__vadd4)
SMEMLINT_UINT(__vsub4) SMEMLINT_UINT(__vsubss4) SMEMLINT_UINT(__vcmpeq4) SMEMLINT_UINT(__vcmpne4) SMEMLINT_UINT(__vabsdiffu4)
SMEMLINT_UINT(__vmaxu4) SMEMLINT_UINT(__vminu4) SMEMLINT_UINT(__vsadu4) SMEMLINT_UINT(__vmaxs2) SMEMLINT_UINT(__vaddss4)
SMEMLINT_UINT(__vmins2) SMEMLINT_UINT(__vimax_s32_relu) SMEMLINT_INT(__viaddmax_s32)
SMEMLINT_FUNCTION(long long, clock64) SMEMLINT_FUNCTION(unsigned long long, globaltimer) SMEMLINT_UINT(__nvvm_get_smid)
extern "C" long clock();

// float and double intrinsics.
SMEMLINT_FLOAT(__fadd_rn) SMEMLINT_FLOAT(__fadd_rz) SMEMLINT_FLOAT(__fsub_rn) SMEMLINT_FLOAT(__fmul_rn) SMEMLINT_FLOAT(__fmul_rz)
SMEMLINT_FLOAT(__fmaf_rn) SMEMLINT_FLOAT(__fmaf_rz) SMEMLINT_FLOAT(__fmaf_ieee_rn) SMEMLINT_FLOAT(__fdividef)
SMEMLINT_FLOAT(__fdiv_rn) SMEMLINT_FLOAT(__fdiv_rz) SMEMLINT_FLOAT(__frcp_rn) SMEMLINT_FLOAT(__frcp_rz) SMEMLINT_FLOAT(__frsqrt_rn)
SMEMLINT_FLOAT(__fsqrt_rn) SMEMLINT_FLOAT(__expf) SMEMLINT_FLOAT(__exp10f) SMEMLINT_FLOAT(__logf) SMEMLINT_FLOAT(__log2f)
SMEMLINT_FLOAT(__log10f) SMEMLINT_FLOAT(__powf) SMEMLINT_FLOAT(__sinf) SMEMLINT_FLOAT(__cosf) SMEMLINT_FLOAT(__tanf)
SMEMLINT_VOID(__sincosf) SMEMLINT_FLOAT(__saturatef) SMEMLINT_FLOAT(__tanhf) SMEMLINT_FLOAT(rsqrtf) SMEMLINT_FLOAT(rcbrtf)
SMEMLINT_FLOAT(exp10f) SMEMLINT_FLOAT(sinpif) SMEMLINT_FLOAT(cospif) SMEMLINT_FLOAT(normf) SMEMLINT_FLOAT(norm3df)
SMEMLINT_FLOAT(rnorm3df) SMEMLINT_FLOAT(rhypotf) SMEMLINT_FLOAT(erfinvf) SMEMLINT_FLOAT(erfcxf) SMEMLINT_FLOAT(normcdff)
SMEMLINT_FLOAT(normcdfinvf) SMEMLINT_FLOAT(fdividef) SMEMLINT_VOID(sincosf) SMEMLINT_VOID(sincos) SMEMLINT_VOID(sincospi)
SMEMLINT_VOID(sincospif) SMEMLINT_FLOAT(j0f) SMEMLINT_FLOAT(cyl_bessel_i0f) SMEMLINT_FLOAT(__fadd_ru) SMEMLINT_FLOAT(__fadd_rd)
#define SMEMLINT_F(n) SMEMLINT_FLOAT(n##f)
SMEMLINT_F(sqrt) SMEMLINT_F(cbrt) SMEMLINT_F(exp) SMEMLINT_F(exp2) SMEMLINT_F(expm1) SMEMLINT_F(log) SMEMLINT_F(log2)
SMEMLINT_F(log10) SMEMLINT_F(log1p) SMEMLINT_F(pow) SMEMLINT_F(sin) SMEMLINT_F(cos) SMEMLINT_F(tan) SMEMLINT_F(asin)
SMEMLINT_F(acos) SMEMLINT_F(atan) SMEMLINT_F(atan2) SMEMLINT_F(sinh) SMEMLINT_F(cosh) SMEMLINT_F(tanh) SMEMLINT_F(asinh)
SMEMLINT_F(acosh) SMEMLINT_F(atanh) SMEMLINT_F(erf) SMEMLINT_F(erfc) SMEMLINT_F(tgamma) SMEMLINT_F(lgamma) SMEMLINT_F(fmod)
SMEMLINT_F(fmin) SMEMLINT_F(fmax) SMEMLINT_F(fabs) SMEMLINT_F(fma) SMEMLINT_F(hypot) SMEMLINT_F(copysign) SMEMLINT_F(floor)
SMEMLINT_F(ceil) SMEMLINT_F(round) SMEMLINT_F(trunc) SMEMLINT_F(rint) SMEMLINT_F(nearbyint) SMEMLINT_F(ldexp)
SMEMLINT_F(remainder) SMEMLINT_F(fdim) SMEMLINT_F(frexp) SMEMLINT_F(modf) SMEMLINT_F(scalbn) SMEMLINT_F(nextafter)
#undef SMEMLINT_F
SMEMLINT_SAME(rsqrt) SMEMLINT_SAME(exp10) SMEMLINT_SAME(rcbrt) SMEMLINT_SAME(sinpi) SMEMLINT_SAME(cospi) SMEMLINT_SAME(erfinv)
SMEMLINT_SAME(normcdf) SMEMLINT_SAME(normcdfinv) SMEMLINT_SAME(frexp) SMEMLINT_SAME(modf)
SMEMLINT_DOUBLE(__dadd_rn) SMEMLINT_DOUBLE(__dsub_rn) SMEMLINT_DOUBLE(__dmul_rn) SMEMLINT_DOUBLE(__ddiv_rn) SMEMLINT_DOUBLE(__fma_rn)
SMEMLINT_DOUBLE(__drcp_rn) SMEMLINT_DOUBLE(__dsqrt_rn)
SMEMLINT_FUNCTION(unsigned, umin) SMEMLINT_FUNCTION(unsigned, umax)
SMEMLINT_INT(__float2int_rn) SMEMLINT_INT(__float2int_rz) SMEMLINT_INT(__float2int_rd) SMEMLINT_INT(__float2int_ru)
SMEMLINT_UINT(__float2uint_rn) SMEMLINT_UINT(__float2uint_rz) SMEMLINT_UINT(__float2uint_rd) SMEMLINT_UINT(__float2uint_ru)
SMEMLINT_FUNCTION(long long, __float2ll_rn) SMEMLINT_FUNCTION(long long, __float2ll_rz) SMEMLINT_FLOAT(__int2float_rn)
SMEMLINT_FLOAT(__int2float_rz) SMEMLINT_FLOAT(__uint2float_rn) SMEMLINT_FLOAT(__uint2float_rz) SMEMLINT_FLOAT(__ll2float_rn)
SMEMLINT_FLOAT(__int2float_rd) SMEMLINT_FLOAT(__ull2float_rn)
SMEMLINT_FLOAT(__double2float_rn) SMEMLINT_FLOAT(__double2float_rz) SMEMLINT_INT(__double2int_rn) SMEMLINT_INT(__double2int_rz)
SMEMLINT_INT(__double2hiint) SMEMLINT_INT(__double2loint) SMEMLINT_DOUBLE(__hiloint2double) SMEMLINT_DOUBLE(__int2double_rn)
SMEMLINT_DOUBLE(__uint2double_rn) SMEMLINT_DOUBLE(__ll2double_rn) SMEMLINT_DOUBLE(__ull2double_rn)
SMEMLINT_FUNCTION(long long, __double2ll_rn) SMEMLINT_FUNCTION(long long, __double2ll_rz) SMEMLINT_INT(__double2uint_rn)
SMEMLINT_FUNCTION(unsigned long long, __double2ull_rn) SMEMLINT_INT(__float_as_int) SMEMLINT_UINT(__float_as_uint)
SMEMLINT_FLOAT(__int_as_float) SMEMLINT_FLOAT(__uint_as_float) SMEMLINT_FUNCTION(long long, __double_as_longlong)
SMEMLINT_DOUBLE(__longlong_as_double) SMEMLINT_FLOAT(uint_as_float) SMEMLINT_UINT(__float2uint_rn_)

// half and bfloat16 intrinsics.
SMEMLINT_HALF(__float2half) SMEMLINT_HALF(__float2half_rn) SMEMLINT_HALF(__float2half_rz) SMEMLINT_HALF(__float2half_rd)
SMEMLINT_HALF(__float2half_ru) SMEMLINT_HALF(__double2half) SMEMLINT_HALF(__int2half_rn) SMEMLINT_HALF(__uint2half_rn)
SMEMLINT_HALF(__short2half_rn) SMEMLINT_HALF(__ushort2half_rn) SMEMLINT_HALF(__int2half_rz) SMEMLINT_HALF(__ll2half_rn)
SMEMLINT_HALF(__ushort_as_half) SMEMLINT_HALF(__short_as_half) SMEMLINT_HALF(__low2half) SMEMLINT_HALF(__high2half)
SMEMLINT_FLOAT(__half2float) SMEMLINT_FLOAT(__low2float) SMEMLINT_FLOAT(__high2float) SMEMLINT_INT(__half2int_rn)
SMEMLINT_INT(__half2int_rz) SMEMLINT_UINT(__half2uint_rn) SMEMLINT_FUNCTION(short, __half2short_rn) SMEMLINT_INT(__half2int_rd)
SMEMLINT_FUNCTION(unsigned short, __half_as_ushort) SMEMLINT_FUNCTION(short, __half_as_short)
SMEMLINT_FUNCTION(unsigned short, __half2ushort_rn)
SMEMLINT_HALF2(__float2half2_rn) SMEMLINT_HALF2(__floats2half2_rn) SMEMLINT_HALF2(__float22half2_rn) SMEMLINT_HALF2(__half2half2)
SMEMLINT_HALF2(__halves2half2) SMEMLINT_HALF2(__low2half2) SMEMLINT_HALF2(__high2half2) SMEMLINT_HALF2(__lows2half2)
SMEMLINT_HALF2(__highs2half2) SMEMLINT_HALF2(__lowhigh2highlow) SMEMLINT_HALF2(make_half2)
SMEMLINT_FUNCTION(float2, __half22float2)
SMEMLINT_FLOAT(__bfloat162float) SMEMLINT_BF16(__float2bfloat16) SMEMLINT_BF16(__float2bfloat16_rn) SMEMLINT_BF16(__float2bfloat16_rz)
SMEMLINT_BF16(__double2bfloat16) SMEMLINT_BF16(__int2bfloat16_rn) SMEMLINT_BF16(__low2bfloat16) SMEMLINT_BF16(__high2bfloat16)
SMEMLINT_BF16(__ushort_as_bfloat16) SMEMLINT_BF16(__short_as_bfloat16) SMEMLINT_BF16(__halves2bfloat16_)
SMEMLINT_FUNCTION(unsigned short, __bfloat16_as_ushort) SMEMLINT_FUNCTION(short, __bfloat16_as_short)
SMEMLINT_BF162(__float2bfloat162_rn) SMEMLINT_BF162(__floats2bfloat162_rn) SMEMLINT_BF162(__float22bfloat162_rn)
SMEMLINT_BF162(__bfloat162bfloat162) SMEMLINT_BF162(__halves2bfloat162) SMEMLINT_BF162(make_bfloat162)
SMEMLINT_BF162(__low2bfloat162) SMEMLINT_BF162(__high2bfloat162)
SMEMLINT_FUNCTION(float2, __bfloat1622float2) SMEMLINT_INT(__bfloat162int_rn)
#define SMEMLINT_H(n) SMEMLINT_SAME(n) SMEMLINT_SAME(n##2)
SMEMLINT_H(__hadd) SMEMLINT_H(__hsub) SMEMLINT_H(__hmul) SMEMLINT_H(__hfma) SMEMLINT_H(__hneg) SMEMLINT_H(__habs)
SMEMLINT_H(__hmax) SMEMLINT_H(__hmin) SMEMLINT_SAME(__hdiv) SMEMLINT_SAME(__h2div) SMEMLINT_SAME(__hmax_nan) SMEMLINT_SAME(__hmin_nan)
SMEMLINT_SAME(__hadd2_sat) SMEMLINT_SAME(__hadd_rn) SMEMLINT_SAME(__hadd2_rn) SMEMLINT_SAME(__hmul2_rn) SMEMLINT_SAME(__hmul_rn) SMEMLINT_SAME(__hfma_relu)
SMEMLINT_SAME(__hadd_sat) SMEMLINT_SAME(__hfma2_relu) SMEMLINT_SAME(__hmul2_sat) SMEMLINT_SAME(__heq2)
SMEMLINT_SAME(hexp) SMEMLINT_SAME(h2exp) SMEMLINT_SAME(hexp2) SMEMLINT_SAME(h2exp2) SMEMLINT_SAME(hlog) SMEMLINT_SAME(h2log)
SMEMLINT_SAME(hsqrt) SMEMLINT_SAME(h2sqrt) SMEMLINT_SAME(hrsqrt) SMEMLINT_SAME(h2rsqrt) SMEMLINT_SAME(hrcp) SMEMLINT_SAME(h2rcp)
SMEMLINT_SAME(hsin) SMEMLINT_SAME(hcos) SMEMLINT_SAME(htanh) SMEMLINT_SAME(h2tanh) SMEMLINT_SAME(hfloor) SMEMLINT_SAME(hceil)
SMEMLINT_SAME(htrunc) SMEMLINT_SAME(hrint) SMEMLINT_SAME(h2tanh_approx) SMEMLINT_SAME(htanh_approx) SMEMLINT_SAME(hlog2)
#undef SMEMLINT_H
SMEMLINT_FUNCTION(bool, __hlt) SMEMLINT_FUNCTION(bool, __hgt) SMEMLINT_FUNCTION(bool, __hle) SMEMLINT_FUNCTION(bool, __hge)
SMEMLINT_FUNCTION(bool, __heq) SMEMLINT_FUNCTION(bool, __hne) SMEMLINT_FUNCTION(bool, __hisnan) SMEMLINT_FUNCTION(bool, __hisinf)
SMEMLINT_FUNCTION(bool, __hbeq2) SMEMLINT_FUNCTION(bool, __hblt2) SMEMLINT_FUNCTION(bool, __hbgt2)
SMEMLINT_FUNCTION(unsigned char, __nv_cvt_float_to_fp8) SMEMLINT_FUNCTION(unsigned short, __nv_cvt_float2_to_fp8x2)
SMEMLINT_FUNCTION(unsigned char, __nv_cvt_bfloat16raw_to_fp8) SMEMLINT_FUNCTION(__half_raw, __nv_cvt_fp8_to_halfraw)
// Complex numbers.
SMEMLINT_SAME(cuCaddf) SMEMLINT_SAME(cuCmulf) SMEMLINT_SAME(cuCsubf) SMEMLINT_SAME(cuCdivf) SMEMLINT_SAME(cuConjf)
SMEMLINT_SAME(cuCadd) SMEMLINT_SAME(cuCmul) SMEMLINT_SAME(cuCsub) SMEMLINT_FLOAT(cuCabsf) SMEMLINT_FLOAT(cuCrealf) SMEMLINT_FLOAT(cuCimagf)
SMEMLINT_FUNCTION(float2, make_cuComplex) SMEMLINT_FUNCTION(float2, make_cuFloatComplex) SMEMLINT_FUNCTION(double2, make_cuDoubleComplex)

// Textures, surfaces and random numbers.
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
constexpr int cudaTextureType1D = 1, cudaTextureType2D = 2, cudaTextureType3D = 3;
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
template <class T, int D = 1, cudaTextureReadMode M = cudaReadModeElementType> struct __attribute__((device_builtin_texture_type)) texture {
    int normalized; cudaTextureFilterMode filterMode; cudaTextureAddressMode addressMode[3]; int channelDesc;
};
#define SMEMLINT_TEXTURE(n) template <class T, class... A> T n(unsigned long long, A...); \
    template <class T, int D, cudaTextureReadMode M, class... A> T n(texture<T, D, M>, A...); template <class... A> void n(A...);
SMEMLINT_TEXTURE(tex1D) SMEMLINT_TEXTURE(tex2D) SMEMLINT_TEXTURE(tex3D) SMEMLINT_TEXTURE(tex1Dfetch) SMEMLINT_TEXTURE(tex2DLod)
SMEMLINT_TEXTURE(tex2DLayered) SMEMLINT_TEXTURE(tex2Dgather) SMEMLINT_TEXTURE(surf2Dread)
#undef SMEMLINT_TEXTURE
SMEMLINT_VOID(surf2Dwrite) SMEMLINT_VOID(surf1Dwrite) SMEMLINT_VOID(surf3Dwrite) SMEMLINT_VOID(surf2DLayeredwrite)
struct curandStateXORWOW { unsigned int d, v[5]; int flag; float extra; double extra2; };
typedef curandStateXORWOW curandState;
typedef curandStateXORWOW curandState_t;
typedef curandStateXORWOW curandStateXORWOW_t;
struct curandStatePhilox4_32_10 { uint4 ctr, output; uint2 key; unsigned int state; int flag; float extra; double extra2; };
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
struct curandStateMRG32k3a { unsigned int s1[3], s2[3]; int flag, flag2; float extra; double extra2; };
typedef curandStateMRG32k3a curandStateMRG32k3a_t;
typedef unsigned int curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];
#define SMEMLINT_SOBOL(n, T, N) struct n { T i, x, c; T direction_vectors[N]; }; typedef n n##_t;
SMEMLINT_SOBOL(curandStateSobol32, unsigned int, 32) SMEMLINT_SOBOL(curandStateScrambledSobol32, unsigned int, 32)
SMEMLINT_SOBOL(curandStateSobol64, unsigned long long, 64) SMEMLINT_SOBOL(curandStateScrambledSobol64, unsigned long long, 64)
#undef SMEMLINT_SOBOL
SMEMLINT_VOID(curand_init) SMEMLINT_UINT(curand) SMEMLINT_FLOAT(curand_uniform) SMEMLINT_FLOAT(curand_normal)
SMEMLINT_FUNCTION(uint4, curand4) SMEMLINT_FUNCTION(float4, curand_uniform4) SMEMLINT_FUNCTION(float2, curand_normal2)
SMEMLINT_DOUBLE(curand_uniform_double) SMEMLINT_DOUBLE(curand_normal_double)
SMEMLINT_POINTEE(__smemlint_load)
