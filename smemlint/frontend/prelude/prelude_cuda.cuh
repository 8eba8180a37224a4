// cooperative_groups, cuda::, nvcuda::wmma and cub, as far as kernels name them.
namespace cooperative_groups {
namespace details {
struct group {
    void sync() const;
    unsigned long long size() const;
    unsigned int num_threads() const;
    unsigned int thread_rank() const;
    bool is_valid() const;
    struct arrival_token {};
    arrival_token barrier_arrive() const;
    template <class... A> void barrier_wait(A...) const;
};
struct warp_group : group {
    unsigned int meta_group_rank() const;
    unsigned int meta_group_size() const;
    template <class T> T shfl(T, int) const;
    template <class T> T shfl_up(T, unsigned) const;
    template <class T> T shfl_down(T, unsigned) const;
    template <class T> T shfl_xor(T, unsigned) const;
    unsigned int ballot(int) const;
    int any(int) const;
    int all(int) const;
    template <class T> unsigned int match_any(T) const;
    template <class T> unsigned int match_all(T, int&) const;
};
}  // namespace details
struct thread_group : details::warp_group { unsigned int __rank, __size; template <class G> thread_group(const G&); thread_group() = default; };
struct thread_block : details::group {
    static dim3 group_index();
    static dim3 thread_index();
    static dim3 group_dim();
    static dim3 dim_threads();
    static dim3 group_dim_();
    static unsigned int thread_rank();
    static unsigned int size();
    static unsigned int num_threads();
    static void sync();
};
struct grid_group : details::group {
    static dim3 group_dim();
    static dim3 dim_blocks();
    static dim3 block_index();
    static unsigned int num_blocks();
    static unsigned int block_rank();
};
struct multi_grid_group : details::group { unsigned int grid_rank() const; unsigned int num_grids() const; };
struct cluster_group : details::group {
    static dim3 block_index();
    static unsigned int block_rank();
    static dim3 thread_index();
    static unsigned int num_blocks();
    static dim3 dim_blocks();
    static dim3 dim_threads();
    template <class T> static T* map_shared_rank(T*, int);
    template <class T> static unsigned int query_shared_rank(T*);
};
struct coalesced_group : details::warp_group { unsigned int __rank, __size, __label; };
template <unsigned int N, class P = void> struct thread_block_tile : details::warp_group {
    thread_block_tile() = default;
    template <class G> thread_block_tile(const G&);
    static constexpr unsigned int size() { return N; }
    static constexpr unsigned int num_threads() { return N; }
};
template <unsigned int N> struct block_tile_memory { char data[N]; };
thread_block this_thread_block();
template <unsigned int N> thread_block this_thread_block(block_tile_memory<N>&);
grid_group this_grid();
multi_grid_group this_multi_grid();
cluster_group this_cluster();
coalesced_group coalesced_threads();
template <unsigned int N, class G> thread_block_tile<N, G> tiled_partition(const G&);
template <class G> thread_group tiled_partition(const G&, unsigned int);
template <class G, class L> coalesced_group labeled_partition(const G&, L);
template <class G> coalesced_group binary_partition(const G&, bool);
template <class... A> void sync(A...);
template <class... A> void memcpy_async(A...);
template <class... A> void wait(A...);
template <unsigned int N, class... A> void wait_prior(A...);
template <class G, class T, class F> T reduce(const G&, T, F);
template <class G, class T, class F> void reduce_store_async(const G&, T*, T, F);
template <class G, class T, class... F> T inclusive_scan(const G&, T, F...);
template <class G, class T, class... F> T exclusive_scan(const G&, T, F...);
template <class G, class F, class... A> void invoke_one(const G&, F, A...);
template <class T = void> struct plus { T operator()(T, T) const; };
template <class T = void> struct less { T operator()(T, T) const; };
template <class T = void> struct greater { T operator()(T, T) const; };
template <class T = void> struct bit_and { T operator()(T, T) const; };
template <class T = void> struct bit_or { T operator()(T, T) const; };
template <class T = void> struct bit_xor { T operator()(T, T) const; };
}  // namespace cooperative_groups

namespace cuda {
namespace std { using namespace ::std; }
enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };
template <size_t N> struct aligned_size_t { size_t value; constexpr explicit aligned_size_t(size_t v) : value(v) {} constexpr operator size_t() const { return value; } };
template <thread_scope S> struct pipeline_shared_state_base { unsigned long long state[8]; };
template <thread_scope S, int N> struct pipeline_shared_state { unsigned long long state[N]; };
template <thread_scope S = thread_scope_thread> struct pipeline {
    void producer_acquire(); void producer_commit(); void consumer_wait(); void consumer_release(); bool quit();
};
enum class pipeline_role { producer, consumer };
pipeline<thread_scope_thread> make_pipeline();
template <class G, thread_scope S, int N, class... A> pipeline<S> make_pipeline(const G&, pipeline_shared_state<S, N>*, A...);
template <int N, thread_scope S> void pipeline_consumer_wait_prior(pipeline<S>&);
template <class... A> void pipeline_producer_commit(A&...);
template <thread_scope S, class F = void> struct barrier {
    unsigned long long state;
    struct arrival_token {};
    template <class... A> arrival_token arrive(A...); template <class T> void wait(T) const; void arrive_and_wait(); void arrive_and_drop();
    template <class... A> bool try_wait(A...) const; template <class... A> bool try_wait_parity(A...) const; void wait_parity(bool) const;
};
template <class... A> void init(A...);
template <class... A> void memcpy_async(A...);
template <class... A> void memcpy_async_tx(A...);
template <thread_scope S, class F, class... A> typename barrier<S, F>::arrival_token barrier_arrive_tx_(barrier<S, F>&, A...);
template <class B, class... A> typename B::arrival_token barrier_arrive_tx(B&, A...);
template <class T, thread_scope S = thread_scope_system> struct atomic {
    T value;
    T load(::std::memory_order = {}) const; void store(T, ::std::memory_order = {}); T exchange(T, ::std::memory_order = {});
    T fetch_add(T, ::std::memory_order = {}); T fetch_sub(T, ::std::memory_order = {}); T fetch_and(T, ::std::memory_order = {});
    T fetch_or(T, ::std::memory_order = {}); T fetch_xor(T, ::std::memory_order = {}); T fetch_max(T, ::std::memory_order = {});
    T fetch_min(T, ::std::memory_order = {}); template <class... A> bool compare_exchange_strong(T&, T, A...);
    template <class... A> bool compare_exchange_weak(T&, T, A...);
    operator T() const; T operator=(T); T operator++(); T operator++(int); T operator+=(T);
};
template <class T, thread_scope S = thread_scope_system> struct atomic_ref : atomic<T, S> { explicit atomic_ref(T&); };
using ::std::memory_order;
using ::std::memory_order_relaxed; using ::std::memory_order_acquire; using ::std::memory_order_release;
using ::std::memory_order_acq_rel; using ::std::memory_order_seq_cst;
template <class... A> void atomic_thread_fence(A...);
template <class... A> void discard_memory(A...);
namespace device { template <class B> unsigned long long* barrier_native_handle(B&); }
template <class T, class U> constexpr auto ceil_div(T a, U b) -> decltype(a / b) { return (a + b - 1) / b; }
template <class T, class U> constexpr auto round_up(T a, U b) -> decltype(a / b) { return (a + b - 1) / b * b; }
template <class T = void> struct minimum { T operator()(T, T) const; };
template <class T = void> struct maximum { T operator()(T, T) const; };
}  // namespace cuda
#define __CUDA_MEMCPY_ASYNC__ 1

namespace nvcuda {
namespace wmma {
struct row_major {}; struct col_major {};
struct matrix_a {}; struct matrix_b {}; struct accumulator {};
enum layout_t { mem_row_major, mem_col_major };
namespace precision { struct tf32 {}; }
namespace experimental {
namespace precision { struct u4 {}; struct s4 {}; struct b1 {}; }
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
}
template <class T> struct storage_of { using type = T; };
template <> struct storage_of<precision::tf32> { using type = float; };
template <class Use, int M, int N, int K, class T, class Layout = void> struct fragment {
    using element_type = typename storage_of<T>::type;
    using storage_element_type = element_type;
    static constexpr int num_elements = 8;
    static constexpr int num_storage_elements = 8;
    element_type x[8];
};
template <class F, class V> void fill_fragment(F&, V);
template <class F, class... A> void load_matrix_sync(F&, A...);
template <class F, class T, class... A> void store_matrix_sync(T*, const F&, A...);
template <class D, class A, class B, class C, class... R> void mma_sync(D&, const A&, const B&, const C&, R...);
template <class... A> void bmma_sync(A&&...);
float __float_to_tf32(float);
}
using namespace wmma;
}
#define SMEMLINT_TF32 nvcuda::wmma::__float_to_tf32

namespace cub {
enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm { BLOCK_LOAD_DIRECT, BLOCK_LOAD_STRIPED, BLOCK_LOAD_VECTORIZE, BLOCK_LOAD_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE };
enum BlockStoreAlgorithm { BLOCK_STORE_DIRECT, BLOCK_STORE_STRIPED, BLOCK_STORE_VECTORIZE, BLOCK_STORE_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE };
enum WarpLoadAlgorithm { WARP_LOAD_DIRECT, WARP_LOAD_STRIPED, WARP_LOAD_VECTORIZE, WARP_LOAD_TRANSPOSE };
enum WarpStoreAlgorithm { WARP_STORE_DIRECT, WARP_STORE_STRIPED, WARP_STORE_VECTORIZE, WARP_STORE_TRANSPOSE };
enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };
enum CacheLoadModifier { LOAD_DEFAULT, LOAD_CA, LOAD_CG, LOAD_CS, LOAD_CV, LOAD_LDG, LOAD_VOLATILE };
struct Sum { template <class T> T operator()(T, T) const; };
struct Max { template <class T> T operator()(T, T) const; };
struct Min { template <class T> T operator()(T, T) const; };
struct ArgMax { template <class T> T operator()(T, T) const; };
struct ArgMin { template <class T> T operator()(T, T) const; };
template <class K, class V> struct KeyValuePair { typedef K Key; typedef V Value; K key; V value; KeyValuePair() = default; KeyValuePair(K, V); };
struct TempStorage_ { unsigned char opaque[16]; };
#define SMEMLINT_COLLECTIVE(n, ...)                                                                \
    __VA_ARGS__ struct n {                                                                           \
        struct TempStorage : TempStorage_ {}; n(TempStorage&); n(TempStorage&, int); n();           \
        template <class... A> T Sum(const T&, A...); template <class... A> T Reduce(const T&, A...); \
        template <class... A> void InclusiveSum(A&&...); template <class... A> void ExclusiveSum(A&&...); \
        template <class... A> void InclusiveScan(A&&...); template <class... A> void ExclusiveScan(A&&...); \
        template <class... A> void Load(A&&...); template <class... A> void Store(A&&...);          \
        template <class... A> void Sort(A&&...); template <class... A> void SortDescending(A&&...); \
        template <class... A> void SortBlockedToStriped(A&&...); template <class... A> void SortDescendingBlockedToStriped(A&&...); \
        template <class... A> void FlagHeads(A&&...); \
        template <class... A> void BlockedToStriped(A&&...); template <class... A> void StripedToBlocked(A&&...); \
        template <class... A> void Histogram(A&&...); template <class... A> void InitHistogram(A&&...); \
        template <class... A> void Composite(A&&...); template <class... A> T Broadcast(A...);      \
    };
SMEMLINT_COLLECTIVE(BlockReduce, template <class T, int X, auto... O>)
SMEMLINT_COLLECTIVE(BlockScan, template <class T, int X, auto... O>)
SMEMLINT_COLLECTIVE(BlockLoad, template <class T, int X, int I, auto... O>)
SMEMLINT_COLLECTIVE(BlockStore, template <class T, int X, int I, auto... O>)
SMEMLINT_COLLECTIVE(BlockExchange, template <class T, int X, int I, auto... O>)
SMEMLINT_COLLECTIVE(BlockHistogram, template <class T, int X, int I, int B, auto... O>)
SMEMLINT_COLLECTIVE(BlockRadixSort, template <class T, int X, int I, class V = void, auto... O>)
SMEMLINT_COLLECTIVE(BlockMergeSort, template <class T, int X, int I, class V = void, auto... O>)
SMEMLINT_COLLECTIVE(BlockShuffle, template <class T, int X, auto... O>)
SMEMLINT_COLLECTIVE(BlockAdjacentDifference, template <class T, int X, auto... O>)
SMEMLINT_COLLECTIVE(BlockDiscontinuity, template <class T, int X, auto... O>)
SMEMLINT_COLLECTIVE(WarpReduce, template <class T, int N = 32, auto... O>)
SMEMLINT_COLLECTIVE(WarpScan, template <class T, int N = 32, auto... O>)
SMEMLINT_COLLECTIVE(WarpLoad, template <class T, int I, auto... O>)
SMEMLINT_COLLECTIVE(WarpStore, template <class T, int I, auto... O>)
SMEMLINT_COLLECTIVE(WarpMergeSort, template <class T, int I, int N = 32, class V = void, auto... O>)
SMEMLINT_COLLECTIVE(WarpExchange, template <class T, int I, int N = 32, auto... O>)
#undef SMEMLINT_COLLECTIVE
template <class... A> void LoadDirectBlocked(A&&...);
template <class... A> void StoreDirectBlocked(A&&...);
template <class... A> void LoadDirectStriped(A&&...);
template <class... A> void StoreDirectStriped(A&&...);
template <CacheLoadModifier M, class T> T ThreadLoad(T*);
#define SMEMLINT_STATIC(n) template <class... A> static int n(A&&...);
struct DeviceReduce { SMEMLINT_STATIC(Sum) SMEMLINT_STATIC(Reduce) SMEMLINT_STATIC(Max) SMEMLINT_STATIC(Min) };
struct DeviceScan { SMEMLINT_STATIC(ExclusiveSum) SMEMLINT_STATIC(InclusiveSum) SMEMLINT_STATIC(ExclusiveScan) };
struct DeviceRadixSort { SMEMLINT_STATIC(SortKeys) SMEMLINT_STATIC(SortPairs) SMEMLINT_STATIC(SortPairsDescending) };
#undef SMEMLINT_STATIC
}  // namespace cub
namespace hipcub { using namespace cub; }
namespace cute { using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t; using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t; using ::uintptr_t; using ::size_t; }
namespace cutlass { using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t; using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t; using ::uintptr_t; using ::size_t; }
