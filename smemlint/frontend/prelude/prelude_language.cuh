// The language that nvcc adds to C++: qualifiers, built-in variables, vector types, launches.
// Everything between the pragmas may be called from host and device.
#pragma clang force_cuda_host_device begin
#undef __clang__
#define __SMP(x) _Pragma(#x)
#undef __clang_major__
#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 8
#define __CUDACC_VER_BUILD__ 61
#define __CUDACC_RDC__ 1
#define __CUDACC_EXTENDED_LAMBDA__ 1
#define __CUDACC_RELAXED_CONSTEXPR__ 1
#define CUDART_VERSION 12080
#define CUDA_VERSION 12080
#define __CUDART_API_VERSION CUDART_VERSION

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device))
#define __grid_constant__
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __cluster_dims__(...) __attribute__((annotate("cluster_dims", __VA_ARGS__)))
#define __block_size__(...) __attribute__((annotate("block_size", __VA_ARGS__)))
#define __maxnreg__(...)
#define __nv_pure__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __inline_hint__
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __thread__ __thread
#define __restrict __restrict__
#define __cdecl
#define __stdcall
#define CUDARTAPI
#define CUDAAPI
#define CUDART_CB
#define CUDA_CB
#define _CCCL_DEVICE __device__
#define _CCCL_HOST_DEVICE __host__ __device__
#define _CCCL_FORCEINLINE __forceinline__
#define __nv_is_extended_device_lambda_closure_type(...) false
#define __nv_is_extended_host_device_lambda_closure_type(...) false

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef signed char int_fast8_t;
typedef long int_fast16_t, int_fast32_t, int_fast64_t;
typedef unsigned char uint_fast8_t;
typedef unsigned long uint_fast16_t, uint_fast32_t, uint_fast64_t;
typedef signed char int_least8_t;
typedef short int_least16_t;
typedef int int_least32_t;
typedef long int_least64_t;
typedef unsigned char uint_least8_t;
typedef unsigned short uint_least16_t;
typedef unsigned int uint_least32_t;
typedef unsigned long uint_least64_t;
typedef long intptr_t, intmax_t, ptrdiff_t, ssize_t;
typedef unsigned long uintptr_t, uintmax_t, size_t;
typedef unsigned int uint, u_int, u_int32_t;
typedef unsigned short ushort, u_short, u_int16_t;
typedef unsigned long ulong, u_long, u_int64_t;
typedef unsigned char u_char, u_int8_t;
typedef double max_align_t, double_t;
typedef float float_t;
typedef long clock_t, time_t;
#define NULL 0
#define INT8_MAX 127
#define INT8_MIN (-128)
#define UINT8_MAX 255
#define INT16_MAX 32767
#define INT16_MIN (-32768)
#define UINT16_MAX 65535
#define INT32_MAX 2147483647
#define INT32_MIN (-2147483647 - 1)
#define UINT32_MAX 4294967295U
#define INT64_MAX 9223372036854775807L
#define INT64_MIN (-9223372036854775807L - 1)
#define UINT64_MAX 18446744073709551615UL
#define SIZE_MAX 18446744073709551615UL
#define CHAR_BIT 8
#define SCHAR_MAX 127
#define SCHAR_MIN (-128)
#define CHAR_MAX 127
#define CHAR_MIN (-128)
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295U
#define LONG_MAX 9223372036854775807L
#define LONG_MIN (-9223372036854775807L - 1)
#define ULONG_MAX 18446744073709551615UL
#define LLONG_MAX 9223372036854775807LL
#define LLONG_MIN (-9223372036854775807LL - 1)
#define ULLONG_MAX 18446744073709551615ULL
#define FLT_MAX 3.40282347e+38F
#define FLT_MIN 1.17549435e-38F
#define FLT_EPSILON 1.19209290e-7F
#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define FLT_RADIX 2
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_DIG 15
#define DBL_MANT_DIG 53
#define LDBL_MAX DBL_MAX
#define LDBL_MIN DBL_MIN
#define LDBL_EPSILON DBL_EPSILON
#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define CUDART_INF_F __builtin_inff()
#define CUDART_INF __builtin_inf()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_NAN __builtin_nan("")
#define CUDART_MAX_NORMAL_F 3.402823466e+38F
#define CUDART_MIN_DENORM_F 1.401298464e-45F
#define CUDART_NEG_ZERO_F (-0.0F)
#define CUDART_ZERO_F 0.0F
#define CUDART_ONE_F 1.0F
#define CUDART_PI_F 3.141592654F
#define CUDART_PI 3.1415926535897931e+0
#define CUDART_PIO2_F 1.570796327F
#define CUDART_SQRT_HALF_F 0.707106781F
#define CUDART_SQRT_TWO_F 1.414213562F
#define CUDART_L2E_F 1.442695041F
#define CUDART_LN2_F 0.693147181F
#define offsetof(T, m) __builtin_offsetof(T, m)
namespace smemlint {
struct told { operator int() const; template <class T> const told& operator<<(const T&) const; };
struct range {
    struct item { operator int() const; template <class T> operator T*() const; };
    struct iterator { item& operator*() const; iterator& operator++(); bool operator!=(const iterator&) const; };
    operator int() const; iterator begin() const; iterator end() const;
};
}
#define assert(...) ((void)sizeof((__VA_ARGS__) ? 1 : 0))
#define __assert_fail(...)
#define __device_builtin__
#define va_list __builtin_va_list
#define va_start(...)
#define va_end(...)
#define va_arg(l, T) (*(T*)0)
#define __trap __builtin_trap
#define __brkpt() ((void)0)
#define __nv_assume(...) ((void)0)
#define __builtin_assume(...) ((void)0)

// Vector types: size and alignment as nvcc has them.
#define SMEMLINT_VECTORS(T, N, A1, A2, A3, A4)                                                    \
    struct __attribute__((aligned(A1))) N##1 { T x; };                                            \
    struct __attribute__((aligned(A2))) N##2 { T x, y; };                                         \
    struct __attribute__((aligned(A3))) N##3 { T x, y, z; };                                      \
    struct __attribute__((aligned(A4))) N##4 { T x, y, z, w; };                                   \
    constexpr N##1 make_##N##1(T x) { return {x}; }                                               \
    constexpr N##2 make_##N##2(T x, T y) { return {x, y}; }                                       \
    constexpr N##3 make_##N##3(T x, T y, T z) { return {x, y, z}; }                               \
    constexpr N##4 make_##N##4(T x, T y, T z, T w) { return {x, y, z, w}; }
SMEMLINT_VECTORS(signed char, char, 1, 2, 1, 4)
SMEMLINT_VECTORS(unsigned char, uchar, 1, 2, 1, 4)
SMEMLINT_VECTORS(short, short, 2, 4, 2, 8)
SMEMLINT_VECTORS(unsigned short, ushort, 2, 4, 2, 8)
SMEMLINT_VECTORS(int, int, 4, 8, 4, 16)
SMEMLINT_VECTORS(unsigned int, uint, 4, 8, 4, 16)
SMEMLINT_VECTORS(long, long, 8, 16, 8, 16)
SMEMLINT_VECTORS(unsigned long, ulong, 8, 16, 8, 16)
SMEMLINT_VECTORS(long long, longlong, 8, 16, 8, 16)
SMEMLINT_VECTORS(unsigned long long, ulonglong, 8, 16, 8, 16)
SMEMLINT_VECTORS(float, float, 4, 8, 4, 16)
SMEMLINT_VECTORS(double, double, 8, 16, 8, 16)
#undef SMEMLINT_VECTORS

struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};
extern const __device__ uint3 threadIdx, blockIdx;
extern const __device__ dim3 blockDim, gridDim;
constexpr int warpSize = 32;

typedef struct _IO_FILE FILE;
typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;

// Macros of well-known libraries that stand where a type or a statement would be read; a program's own definition replaces them.
#define CUTLASS_DEVICE __forceinline__ __device__
#define CUTLASS_HOST_DEVICE __forceinline__ __device__ __host__
#define CUTLASS_HOST __host__
#define CUTLASS_GLOBAL __global__ static
#define CUTLASS_PRAGMA_UNROLL _Pragma("unroll")
#define CUTLASS_PRAGMA_NO_UNROLL _Pragma("unroll 1")
#define CUTLASS_CONSTEXPR_IF_CXX17 constexpr
#define CUTLASS_GRID_CONSTANT
#define CUTE_DEVICE __forceinline__ __device__
#define CUTE_HOST_DEVICE __forceinline__ __device__ __host__
#define CUTE_HOST __forceinline__ __host__
#define CUTE_UNROLL _Pragma("unroll")
#define CUTE_NO_UNROLL _Pragma("unroll 1")
#define CUTE_STATIC_ASSERT(...) static_assert(true, "")
#define CUTE_STATIC_ASSERT_V(...) static_assert(true, "")
#define CUTE_GRID_CONSTANT
#define CUTE_INLINE_CONSTANT constexpr
#define CUTLASS_ASSERT(...) ((void)0)
#define RAFT_KERNEL static __global__ void
#define RAFT_INLINE_FUNCTION __forceinline__ __device__ __host__
#define RAFT_DEVICE_INLINE_FUNCTION __forceinline__ __device__
#define RAFT_EXPORT
#define CV_EXPORTS
#define CUML_KERNEL static __global__ void
#define CUDA_KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)
#define CUDA_1D_KERNEL_LOOP(i, n) CUDA_KERNEL_LOOP(i, n)
