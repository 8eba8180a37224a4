// Types of device code: narrow floats, textures, random numbers. The functions are declared from the table (smemlint/toolkit).

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
typedef __half __nv_half, nv_half;
typedef __nv_bfloat16 nv_bfloat16;
struct __half_raw { unsigned short x; };
struct __half2_raw { unsigned short x, y; };
struct __nv_bfloat16_raw { unsigned short x; };
struct __nv_bfloat162_raw { unsigned short x, y; };
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
typedef __half2 __nv_half2, nv_half2;
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
template <class T, class... A> T __smemlint_load(T*, A...); template <class T, class... A> T __smemlint_load(const T*, A...);
template <class T, class... A> T __smemlint_load(volatile T*, A...);
