// What stands around launches: the run-time API, the C library, streams, PyTorch. Cheap names, no meaning.
constexpr cudaStream_t cudaStreamLegacy = nullptr, cudaStreamPerThread = nullptr;
struct cudaLaunchAttribute { cudaLaunchAttributeID id; struct { struct { unsigned x, y, z; } clusterDim; int cooperative, programmaticStreamSerializationAllowed; } val; };
struct cudaLaunchConfig_t { dim3 gridDim, blockDim; size_t dynamicSmemBytes; cudaStream_t stream; cudaLaunchAttribute* attrs; unsigned numAttrs; };
struct cudaKernelNodeParams { void* func; dim3 gridDim, blockDim; unsigned sharedMemBytes; void** kernelParams; void** extra; };
struct cudaDeviceProp {
    char name[256]; size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor, totalConstMem;
    int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate, major, minor, multiProcessorCount,
        maxThreadsPerMultiProcessor, memoryClockRate, memoryBusWidth, l2CacheSize, cooperativeLaunch, concurrentKernels,
        integrated, canMapHostMemory, unifiedAddressing, maxBlocksPerMultiProcessor, deviceOverlap, managedMemory, computeMode;
};
struct cudaFuncAttributes { size_t sharedSizeBytes, constSizeBytes, localSizeBytes; int maxThreadsPerBlock, numRegs, binaryVersion, maxDynamicSharedSizeBytes; };
struct cudaPointerAttributes { int type, device; void *devicePointer, *hostPointer; };
struct cudaChannelFormatDesc { int x, y, z, w, f; };
struct cudaExtent { size_t width, height, depth; };
struct cudaPitchedPtr { void* ptr; size_t pitch, xsize, ysize; };
typedef struct cudaArray* cudaArray_t;
template <class T> cudaChannelFormatDesc cudaCreateChannelDesc(); template <class... A> cudaChannelFormatDesc cudaCreateChannelDesc(A...);
namespace std {
template <class T> struct allocator {};
template <class T, class A = allocator<T>> struct vector {
    using value_type = T; using iterator = T*; using const_iterator = const T*; using size_type = size_t; using reference = T&;
    T* held; size_t count, room;
    vector() = default;
    vector(size_t); vector(size_t, const T&); vector(initializer_list<T>);
    template <class I> vector(I, I);
    T& operator[](size_t); const T& operator[](size_t) const; T& at(size_t); T& front(); T& back(); const T& back() const; const T& front() const;
    T* data(); const T* data() const; T* begin(); T* end(); const T* begin() const; const T* end() const; const T& at(size_t) const;
    size_t size() const; bool empty() const; size_t capacity() const;
    template <class... U> void resize(U...); void reserve(size_t); void clear(); void push_back(const T&); void pop_back();
    template <class... U> T& emplace_back(U&&...); template <class... U> T* insert(U&&...); template <class... U> T* erase(U...);
    template <class... U> void assign(U...); void swap(vector&); void shrink_to_fit(); T* rbegin() const; T* rend() const; const T* cbegin() const; const T* cend() const;
};
template <class C> struct basic_string {
    const C* held; size_t count, room[2];
    basic_string() = default;
    basic_string(const C*); basic_string(size_t, C); template <class I> basic_string(I, I);
    C& operator[](size_t); const C* c_str() const; const C* data() const; size_t size() const; size_t length() const; bool empty() const;
    friend basic_string operator+(const C*, const basic_string&);
    basic_string operator+(const basic_string&) const; basic_string& operator+=(const basic_string&); basic_string& operator+=(C);
    bool operator==(const basic_string&) const; bool operator!=(const basic_string&) const; bool operator<(const basic_string&) const;
    template <class... U> basic_string substr(U...) const; template <class... U> size_t find(U...) const; C* begin(); C* end();
    const C* begin() const; const C* end() const; const C* cbegin() const; const C* cend() const; const C& operator[](size_t) const; const C& at(size_t) const; C& at(size_t); C& front(); const C& front() const; const C& back() const;
    template <class U> basic_string& append(U); void push_back(C); void resize(size_t); void clear(); void pop_back(); C& back(); template <class U> int compare(U) const;
    template <class... U> size_t rfind(U...) const; static constexpr size_t npos = -1;
};
using string = basic_string<char>;
struct string_view {
    constexpr string_view() {} constexpr string_view(const char*) {} constexpr string_view(const char*, size_t) {} string_view(const string&);
    const char* data() const; size_t size() const; size_t length() const; bool empty() const; char operator[](size_t) const; bool operator==(string_view) const;
    bool operator!=(string_view) const; const char* begin() const; const char* end() const; template <class... U> string_view substr(U...) const; template <class... U> size_t find(U...) const;
    operator string() const; string_view remove_prefix(size_t);
};
struct source_location { static constexpr source_location current() { return {}; } const char* file_name() const; const char* function_name() const; unsigned line() const; unsigned column() const; };
namespace experimental { using std::source_location; }
template <class... T> string to_string(T...);
struct ios_base {
    typedef int openmode; typedef int seekdir; typedef int fmtflags;
    static constexpr int in = 8, out = 16, ate = 2, app = 1, trunc = 32, binary = 4, beg = 0, cur = 1, end = 2, fixed = 4, scientific = 256, floatfield = 260;
    static bool sync_with_stdio(bool);
};
using ios = ios_base;
typedef long streamsize; typedef long streamoff; typedef long streampos;
struct ostream : ios_base { template <class T> ostream& operator<<(const T&); ostream& operator<<(ostream& (*)(ostream&)); template <class... A> ostream& write(A...); template <class... A> int precision(A...); template <class... A> int width(A...); explicit operator bool() const; void flush(); };
struct istream : ios_base {
    template <class T> istream& operator>>(T&); explicit operator bool() const; template <class... A> istream& read(A...);
    template <class... A> istream& seekg(A...); long tellg(); template <class... A> istream& getline(A...); template <class... A> istream& ignore(A...);
    template <class... A> int get(A...); bool eof() const; bool good() const; bool fail() const; void clear(); long gcount() const; int peek();
};
extern ostream cout, cerr, clog;
extern istream cin;
ostream& endl(ostream&);
ostream& flush(ostream&);
ostream& fixed(ostream&);
ostream& left(ostream&);
ostream& right(ostream&);
ostream& scientific(ostream&);
template <class T> T setw(T); template <class T> T setprecision(T); template <class T> T setfill(T);
struct stringstream : ostream { stringstream(); template <class T> stringstream(T); string str() const; template <class T> istream& operator>>(T&); };
using ostringstream = stringstream;
struct istringstream : istream { istringstream(); template <class T> istringstream(T); string str() const; template <class T> void str(T); };
struct stringbuf { stringbuf(); template <class... T> stringbuf(T...); string str() const; };
struct fstream : istream { template <class... T> fstream(T...); template <class T> ostream& operator<<(const T&); bool is_open() const; void close(); template <class... A> void open(A...); template <class... A> void write(A...); };
template <class... A> istream& getline(istream&, A&&...);
istream& ws(istream&); ostream& hex(ostream&); ostream& dec(ostream&); ostream& boolalpha(ostream&); ostream& internal(ostream&);
struct ofstream : ostream { template <class... T> ofstream(T...); bool is_open() const; void close(); template <class... A> void open(A...); };
struct ifstream : istream { template <class... T> ifstream(T...); bool is_open() const; void close(); template <class... A> void open(A...); };
struct exception { virtual const char* what() const; };
struct runtime_error : exception { template <class T> runtime_error(T); };
struct invalid_argument : exception { template <class T> invalid_argument(T); };
struct logic_error : exception { template <class T> logic_error(T); };
struct out_of_range : exception { template <class T> out_of_range(T); };
struct length_error : exception { template <class T> length_error(T); };
struct domain_error : exception { template <class T> domain_error(T); };
struct bad_alloc : exception {};
struct exception_ptr { exception_ptr() = default; exception_ptr(decltype(nullptr)); explicit operator bool() const; };
exception_ptr current_exception(); void rethrow_exception(exception_ptr);
template <class T, class D = void> struct unique_ptr {
    T* held = nullptr;
    unique_ptr() = default; template <class U> unique_ptr(U); T* get() const; T& operator*() const; T* operator->() const; T& operator[](size_t) const; template <class... U> void reset(U...); explicit operator bool() const;
};
template <class T, class D> struct unique_ptr<T[], D> { template <class... U> unique_ptr(U...); T* get() const; T& operator[](size_t) const; };
template <class T> struct shared_ptr { T* held = nullptr; shared_ptr() = default; template <class U> shared_ptr(U); T* get() const; T& operator*() const; T* operator->() const; template <class... U> void reset(U...); explicit operator bool() const; };
template <class T> struct weak_ptr { weak_ptr() = default; template <class U> weak_ptr(U); shared_ptr<T> lock() const; void swap(weak_ptr&); bool expired() const; };
template <class T, class... A> unique_ptr<T> make_unique(A&&...);
template <class T, class... A> shared_ptr<T> make_shared(A&&...);
template <class F> struct function;
template <class R, class... A> struct function<R(A...)> { void* held[4]; function() = default; template <class F> function(F); R operator()(A...) const; explicit operator bool() const; };
template <class K, class V, class C = void> struct map { pair<const K, V>* held; size_t entries; map() = default; map(initializer_list<pair<const K, V>>); V& operator[](const K&); V& at(const K&) const; size_t size() const; template <class U> size_t count(U) const; pair<const K, V>* begin() const; pair<const K, V>* end() const; pair<const K, V>* cbegin() const; pair<const K, V>* cend() const; template <class U> pair<const K, V>* find(U) const; template <class... U> pair<pair<const K, V>*, bool> insert(U&&...);
    pair<pair<const K, V>*, bool> insert(pair<const K, V>); template <class... U> pair<pair<const K, V>*, bool> emplace(U&&...); template <class... U> pair<pair<const K, V>*, bool> try_emplace(U&&...); template <class... U> pair<pair<const K, V>*, bool> insert_or_assign(U&&...); template <class U> size_t erase(U); void clear(); bool empty() const; template <class U> bool contains(U) const; void swap(map&); };
template <class K, class V, class C = void> struct unordered_map : map<K, V, C> {};
template <class K, class C = void> struct set {
    K* held; size_t entries; set() = default; set(initializer_list<K>); template <class I> set(I, I); size_t size() const; bool empty() const; pair<const K*, bool> insert(const K&); template <class... U> pair<const K*, bool> emplace(U&&...);
    template <class I> void insert(I, I); template <class U> size_t count(U) const; template <class U> bool contains(U) const; const K* find(const K&) const; size_t erase(const K&); void clear();
    const K* begin() const; const K* end() const; const K* cbegin() const; const K* cend() const; const K* rbegin() const; const K* rend() const; const K* lower_bound(const K&) const; const K* upper_bound(const K&) const;
};
template <class K, class C = void> struct unordered_set : set<K, C> { using set<K, C>::set; };
template <class T, class A = allocator<T>> struct deque : vector<T, A> { using vector<T, A>::vector; void push_front(const T&); void pop_front(); };
template <class T, class A = allocator<T>> struct list : deque<T, A> { using deque<T, A>::deque; };
template <class T, class A = allocator<T>> struct forward_list : deque<T, A> { using deque<T, A>::deque; };
template <class T, class C = void> struct queue { T* held; size_t entries; const T& front() const; T& front(); T& back(); void push(const T&); void pop(); bool empty() const; size_t size() const; template <class... U> void emplace(U&&...); };
template <class T, class C = void> struct stack { T* held; size_t entries; template <class... U> void emplace(U&&...); T& top(); void push(const T&); void pop(); bool empty() const; size_t size() const; };
template <class T, class C = void, class L = void> struct priority_queue { T* held; size_t entries; template <class... U> void emplace(U&&...); const T& top() const; void push(const T&); void pop(); bool empty() const; size_t size() const; };
template <class K, class V, class C = void> struct multimap : map<K, V, C> {};
struct regex { template <class... T> regex(T...); };
template <class... A> bool regex_match(A&&...); template <class... A> bool regex_search(A&&...); template <class... A> string regex_replace(A&&...);
struct thread { size_t id; thread() = default; template <class... T> thread(T&&...); void join(); void detach(); bool joinable() const; static unsigned hardware_concurrency(); };
struct condition_variable { void notify_one(); void notify_all(); template <class... A> void wait(A&&...); };
struct random_device { unsigned operator()(); };
struct mt19937 { template <class... T> mt19937(T...); unsigned operator()(); };
using default_random_engine = mt19937;
using mt19937_64 = mt19937;
template <class T = float> struct uniform_real_distribution { template <class... A> uniform_real_distribution(A...); template <class G> T operator()(G&); };
template <class T = int> struct uniform_int_distribution { template <class... A> uniform_int_distribution(A...); template <class G> T operator()(G&); };
template <class T = float> struct normal_distribution { template <class... A> normal_distribution(A...); template <class G> T operator()(G&); };
struct mutex { void lock(); void unlock(); };
template <class T> struct lock_guard { lock_guard(T&); };
template <class T> struct unique_lock { template <class... A> unique_lock(A&&...); void lock(); void unlock(); };
template <class I> pair<I, I> minmax_element(I, I);
template <class T> struct atomic { atomic() = default; atomic(T); T load() const; void store(T); operator T() const; T operator++(); T operator=(T); };
namespace chrono {
template <class...> struct ratio_ {};
template <class R, class P = void> struct duration { duration() = default; R count() const; duration operator-(duration) const; duration operator+(duration) const; };
struct nanoseconds : duration<long> {}; struct microseconds : duration<long> {}; struct milliseconds : duration<long> {}; struct seconds : duration<long> {};
struct time_point { duration<double> operator-(time_point) const; duration<double> time_since_epoch() const; };
struct steady_clock { using time_point = chrono::time_point; static time_point now(); };
using high_resolution_clock = steady_clock;
using system_clock = steady_clock;
template <class D, class T> D duration_cast(T);
}
template <long N, long D = 1> struct ratio {};
using milli = ratio<1, 1000>; using micro = ratio<1, 1000000>; using nano = ratio<1, 1000000000>;
}  // namespace std

namespace thrust {
template <class T> struct device_ptr { T* get() const; };
template <class T> struct host_vector : std::vector<T> { using std::vector<T>::vector; template <class U> host_vector(const U&); };
template <class T> struct device_vector : std::vector<T> { using std::vector<T>::vector; template <class U> device_vector(const U&); };
template <class T> T* raw_pointer_cast(T*);
template <class T> T* raw_pointer_cast(const device_ptr<T>&);
template <class T> device_ptr<T> device_pointer_cast(T*);
template <class T> struct plus : std::plus<T> {};
template <class T> struct minus : std::minus<T> {};
template <class T> struct multiplies : std::multiplies<T> {};
template <class T> struct less : std::less<T> {};
template <class T> struct greater : std::greater<T> {};
template <class T> struct maximum { T operator()(T, T) const; };
template <class T> struct minimum { T operator()(T, T) const; };
template <class T> struct alignas(2 * sizeof(T)) complex : std::complex<T> {
    using std::complex<T>::complex;
    constexpr complex() = default;
    constexpr complex(std::complex<T> v) : std::complex<T>(v) {}
};
struct execution_policy { execution_policy on(cudaStream_t) const; template <class... A> execution_policy operator()(A&&...) const; };
extern const execution_policy device, host, seq;
namespace cuda { extern const execution_policy par, par_nosync; }
namespace system { namespace cuda { using thrust::cuda::par; } }
template <class T> struct counting_iterator { template <class... A> counting_iterator(A...); T operator*() const; };
template <class T> counting_iterator<T> make_counting_iterator(T);
template <class F, class I> counting_iterator<int> make_transform_iterator(I, F);
template <class... A> counting_iterator<int> make_zip_iterator(A...); template <class... A> counting_iterator<int> make_permutation_iterator(A...);
template <class T> counting_iterator<T> make_constant_iterator(T); template <class... A> counting_iterator<int> make_discard_iterator(A...);
#define SMEMLINT_ALGORITHM(n) template <class... A> void n(A&&...);
SMEMLINT_ALGORITHM(transform) SMEMLINT_ALGORITHM(fill) SMEMLINT_ALGORITHM(fill_n) SMEMLINT_ALGORITHM(sequence) SMEMLINT_ALGORITHM(copy)
SMEMLINT_ALGORITHM(copy_n) SMEMLINT_ALGORITHM(sort) SMEMLINT_ALGORITHM(stable_sort) SMEMLINT_ALGORITHM(sort_by_key)
SMEMLINT_ALGORITHM(stable_sort_by_key) SMEMLINT_ALGORITHM(inclusive_scan) SMEMLINT_ALGORITHM(exclusive_scan) SMEMLINT_ALGORITHM(for_each)
SMEMLINT_ALGORITHM(for_each_n) SMEMLINT_ALGORITHM(gather) SMEMLINT_ALGORITHM(scatter) SMEMLINT_ALGORITHM(generate) SMEMLINT_ALGORITHM(replace)
SMEMLINT_ALGORITHM(tabulate) SMEMLINT_ALGORITHM(reverse) SMEMLINT_ALGORITHM(inclusive_scan_by_key) SMEMLINT_ALGORITHM(exclusive_scan_by_key)
SMEMLINT_ALGORITHM(transform_inclusive_scan) SMEMLINT_ALGORITHM(transform_exclusive_scan) SMEMLINT_ALGORITHM(adjacent_difference)
#undef SMEMLINT_ALGORITHM
template <class... A> double reduce(A&&...); template <class... A> double transform_reduce(A&&...); template <class... A> double inner_product(A&&...);
template <class... A> long count(A&&...); template <class... A> long count_if(A&&...); template <class... A> bool equal(A&&...);
using std::pair; using std::tuple; using std::make_pair; using std::make_tuple; using std::get; using std::swap;
using std::tuple_element; using std::tuple_size; using std::tie;
}

// PyTorch extensions.
namespace c10 {
struct Half : __half { using __half::__half; };
struct BFloat16 : __nv_bfloat16 { using __nv_bfloat16::__nv_bfloat16; };
enum class ScalarType { Byte, Char, Short, Int, Long, Half, Float, Double, ComplexHalf, ComplexFloat, ComplexDouble, Bool, QInt8, QUInt8, QInt32, BFloat16, QUInt4x2, QUInt2x4,
    Bits8, Bits16, Float8_e5m2, Float8_e4m3fn, Float8_e5m2fnuz, Float8_e4m3fnuz, UInt16, UInt32, UInt64, Undefined };
enum class DispatchKey { Undefined, CPU, CUDA, Meta, Autograd, AutogradCUDA, AutogradCPU, CompositeImplicitAutograd, CompositeExplicitAutograd, QuantizedCPU, QuantizedCUDA, SparseCUDA, BackendSelect };
enum class DeviceType { CPU, CUDA, HIP, Meta };
struct SymInt { SymInt(long); operator long() const; template <class... A> long guard_int(A...) const; template <class... A> long expect_int(A...) const; };
using DeviceIndex = signed char;
struct Device { int index() const; bool is_cuda() const; bool is_cpu() const; DeviceType type() const; bool operator==(const Device&) const; bool operator!=(const Device&) const; };
template <class T> struct ArrayRef {
    ArrayRef(); ArrayRef(const T&); ArrayRef(const T*, size_t); ArrayRef(std::initializer_list<T>); ArrayRef(const std::vector<T>&); template <size_t N> ArrayRef(const std::array<T, N>&);
    size_t size() const; const T& operator[](size_t) const; const T& at(size_t) const; const T* data() const; const T* begin() const; const T* end() const; bool empty() const;
    const T& front() const; const T& back() const; ArrayRef slice(size_t, size_t) const; std::vector<T> vec() const;
};
using IntArrayRef = ArrayRef<long>;
template <class T> struct optional : std::optional<T> { using std::optional<T>::optional; };
namespace cuda {
struct CUDAGuard { template <class... A> CUDAGuard(A...); template <class... A> void set_index(A...); template <class... A> void set_device(A...); };
struct CUDAStream { operator cudaStream_t() const; cudaStream_t stream() const; DeviceIndex device_index() const; Device device() const; long id() const; void synchronize() const; };
template <class... A> CUDAStream getCurrentCUDAStream(A...);
}
}
namespace at {
using c10::Half; using c10::BFloat16; using c10::ScalarType; using c10::IntArrayRef; using c10::Device; using c10::ArrayRef; using c10::SymInt; using c10::DispatchKey; using c10::DeviceType;
constexpr ScalarType kFloat = ScalarType::Float, kHalf = ScalarType::Half, kInt = ScalarType::Int, kLong = ScalarType::Long,
    kBFloat16 = ScalarType::BFloat16, kDouble = ScalarType::Double, kByte = ScalarType::Byte, kChar = ScalarType::Char,
    kBool = ScalarType::Bool, kFloat32 = ScalarType::Float, kFloat16 = ScalarType::Half, kInt32 = ScalarType::Int;
template <ScalarType> struct smemlint_of { using type = float; };
template <> struct smemlint_of<ScalarType::Half> { using type = c10::Half; };
template <> struct smemlint_of<ScalarType::BFloat16> { using type = c10::BFloat16; };
template <> struct smemlint_of<ScalarType::Double> { using type = double; };
template <> struct smemlint_of<ScalarType::Int> { using type = int; };
template <> struct smemlint_of<ScalarType::Long> { using type = long; };
template <> struct smemlint_of<ScalarType::Byte> { using type = unsigned char; };
template <> struct smemlint_of<ScalarType::Char> { using type = signed char; };
template <> struct smemlint_of<ScalarType::Short> { using type = short; };
template <> struct smemlint_of<ScalarType::Bool> { using type = bool; };
constexpr int kCUDA = 1, kCPU = 0;
template <class T> constexpr T ceil_div(T a, T b) { return (a + b - 1) / b; }
template <class T> constexpr T round_up(T a, T b) { return (a + b - 1) / b * b; }
struct TensorOptions {
    TensorOptions(); template <class T> TensorOptions(T); template <class... A> TensorOptions dtype(A...) const; template <class... A> TensorOptions device(A...) const;
    template <class... A> TensorOptions layout(A...) const; template <class... A> TensorOptions requires_grad(A...) const; template <class... A> TensorOptions pinned_memory(A...) const;
    template <class... A> TensorOptions memory_format(A...) const;
};
template <class... A> TensorOptions dtype(A...); template <class... A> TensorOptions device(A...); template <class... A> TensorOptions layout(A...); template <class... A> TensorOptions requires_grad(A...);
template <class T> struct DefaultPtrTraits { typedef T* PtrType; };
template <class T> struct RestrictPtrTraits { typedef T* __restrict__ PtrType; };
template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = long> struct TensorAccessor {
    __host__ __device__ TensorAccessor<T, N - 1, P, I> operator[](I) const; __host__ __device__ I size(I) const; __host__ __device__ T* data() const; __host__ __device__ I stride(I) const;
};
template <class T, template <class> class P, class I> struct TensorAccessor<T, 1, P, I> {
    __host__ __device__ T& operator[](I) const; __host__ __device__ I size(I) const; __host__ __device__ T* data() const; __host__ __device__ I stride(I) const;
};
template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = long> struct GenericPackedTensorAccessor : TensorAccessor<T, N, P, I> {};
template <class T, size_t N, template <class> class P = DefaultPtrTraits> using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, P, int>;
template <class T, size_t N, template <class> class P = DefaultPtrTraits> using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, P, long>;
template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = long> using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, P, I>;
template <class T, bool cuda = true> struct AccumulateType { using type = T; };
template <bool cuda> struct AccumulateType<c10::Half, cuda> { using type = float; };
template <bool cuda> struct AccumulateType<c10::BFloat16, cuda> { using type = float; };
template <> struct AccumulateType<float, false> { using type = double; };
template <bool cuda> struct AccumulateType<signed char, cuda> { using type = long; };
template <bool cuda> struct AccumulateType<unsigned char, cuda> { using type = long; };
template <bool cuda> struct AccumulateType<short, cuda> { using type = long; };
template <bool cuda> struct AccumulateType<int, cuda> { using type = long; };
template <class T, bool cuda> using acc_type = typename AccumulateType<T, cuda>::type;
template <class T> struct OpMathType { using type = T; };
template <> struct OpMathType<c10::Half> { using type = float; };
template <> struct OpMathType<c10::BFloat16> { using type = float; };
template <class T> using opmath_type = typename OpMathType<T>::type;
#define SMEMLINT_METHOD(n) template <class... A> Tensor n(A...) const;
template <class T> struct smemlint_owned { const T& operator*() const; const T* operator->() const; };
struct Tensor {
    template <class T> T* data_ptr() const; void* data_ptr() const; template <class T> T* mutable_data_ptr() const; template <class T> const T* const_data_ptr() const;
    template <class T> T* data() const; long size(int) const; IntArrayRef sizes() const; IntArrayRef strides() const; long stride(int) const; long numel() const; long dim() const;
    ScalarType scalar_type() const; ScalarType dtype() const; TensorOptions options() const; Device device() const; bool is_cuda() const; bool is_contiguous() const;
    Tensor contiguous() const; bool defined() const; int get_device() const; template <class... A> Tensor to(A...) const; template <class... A> Tensor view(A...) const; Tensor view(IntArrayRef) const; Tensor reshape(IntArrayRef) const; Tensor permute(IntArrayRef) const; Tensor expand(IntArrayRef) const;
    template <class... A> Tensor zero_(A...) const; template <class... A> Tensor reshape(A...) const; long element_size() const; int ndimension() const;
    template <class T, size_t N, template <class> class P = DefaultPtrTraits> PackedTensorAccessor32<T, N, P> packed_accessor32() const;
    template <class T, size_t N, template <class> class P = DefaultPtrTraits> PackedTensorAccessor64<T, N, P> packed_accessor64() const;
    template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = long> GenericPackedTensorAccessor<T, N, P, I> packed_accessor() const;
    template <class T, size_t N> TensorAccessor<T, N> accessor() const; template <class... A> Tensor cpu(A...) const; template <class... A> Tensor cuda(A...) const; template <class... A> Tensor flatten(A...) const;
    template <class... A> Tensor squeeze(A...) const; template <class... A> Tensor unsqueeze(A...) const; template <class... A> Tensor expand(A...) const; template <class... A> Tensor select(A...) const; size_t itemsize() const; size_t nbytes() const;
    SMEMLINT_METHOD(abs) SMEMLINT_METHOD(add) SMEMLINT_METHOD(add_) SMEMLINT_METHOD(all) SMEMLINT_METHOD(any) SMEMLINT_METHOD(argmax) SMEMLINT_METHOD(argmin)
    SMEMLINT_METHOD(argsort) SMEMLINT_METHOD(as_strided) SMEMLINT_METHOD(bmm) SMEMLINT_METHOD(clamp) SMEMLINT_METHOD(clamp_min) SMEMLINT_METHOD(clone) SMEMLINT_METHOD(copy_)
    SMEMLINT_METHOD(count_nonzero) SMEMLINT_METHOD(cumsum) SMEMLINT_METHOD(cumsum_) SMEMLINT_METHOD(detach) SMEMLINT_METHOD(diff) SMEMLINT_METHOD(div) SMEMLINT_METHOD(div_)
    SMEMLINT_METHOD(eq) SMEMLINT_METHOD(exp) SMEMLINT_METHOD(exp_) SMEMLINT_METHOD(flip) SMEMLINT_METHOD(floor_divide) SMEMLINT_METHOD(gather) SMEMLINT_METHOD(ge)
    SMEMLINT_METHOD(gt) SMEMLINT_METHOD(index) SMEMLINT_METHOD(index_add_) SMEMLINT_METHOD(index_copy_) SMEMLINT_METHOD(index_fill_) SMEMLINT_METHOD(index_put_)
    SMEMLINT_METHOD(index_select) SMEMLINT_METHOD(le) SMEMLINT_METHOD(log) SMEMLINT_METHOD(lt) SMEMLINT_METHOD(masked_fill) SMEMLINT_METHOD(masked_fill_)
    SMEMLINT_METHOD(masked_select) SMEMLINT_METHOD(matmul) SMEMLINT_METHOD(mean) SMEMLINT_METHOD(mm) SMEMLINT_METHOD(mul) SMEMLINT_METHOD(mul_) SMEMLINT_METHOD(narrow)
    SMEMLINT_METHOD(ne) SMEMLINT_METHOD(neg) SMEMLINT_METHOD(nonzero) SMEMLINT_METHOD(normal_) SMEMLINT_METHOD(pin_memory) SMEMLINT_METHOD(pow) SMEMLINT_METHOD(prod)
    SMEMLINT_METHOD(random_) SMEMLINT_METHOD(repeat) SMEMLINT_METHOD(repeat_interleave) SMEMLINT_METHOD(requires_grad_) SMEMLINT_METHOD(resize_) SMEMLINT_METHOD(resize_as_)
    SMEMLINT_METHOD(roll) SMEMLINT_METHOD(scatter) SMEMLINT_METHOD(scatter_) SMEMLINT_METHOD(scatter_add_) SMEMLINT_METHOD(slice) SMEMLINT_METHOD(softmax) SMEMLINT_METHOD(sub)
    SMEMLINT_METHOD(sub_) SMEMLINT_METHOD(t) SMEMLINT_METHOD(toType) SMEMLINT_METHOD(triu) SMEMLINT_METHOD(tril) SMEMLINT_METHOD(type_as) SMEMLINT_METHOD(unfold)
    SMEMLINT_METHOD(uniform_) SMEMLINT_METHOD(view_as) SMEMLINT_METHOD(new_empty) SMEMLINT_METHOD(new_zeros) SMEMLINT_METHOD(new_full) SMEMLINT_METHOD(new_ones)
    SMEMLINT_METHOD(set_) SMEMLINT_METHOD(swapaxes) SMEMLINT_METHOD(movedim) SMEMLINT_METHOD(contiguous_) SMEMLINT_METHOD(sqrt) SMEMLINT_METHOD(rsqrt)
    SMEMLINT_METHOD(reciprocal) SMEMLINT_METHOD(round) SMEMLINT_METHOD(floor) SMEMLINT_METHOD(ceil) SMEMLINT_METHOD(logical_not) SMEMLINT_METHOD(bitwise_and)
    SMEMLINT_METHOD(expand_as) SMEMLINT_METHOD(reshape_as) SMEMLINT_METHOD(view_dtype) SMEMLINT_METHOD(addmm) SMEMLINT_METHOD(baddbmm) SMEMLINT_METHOD(masked_scatter)
    SMEMLINT_METHOD(tensor_data) SMEMLINT_METHOD(variable_data) SMEMLINT_METHOD(grad)
    Tensor operator[](long) const; template <class T> Tensor operator[](T) const; Tensor operator-() const; operator bool() const = delete;
    std::tuple<Tensor, Tensor> max(long) const; Tensor max() const; std::tuple<Tensor, Tensor> min(long) const; Tensor min() const; template <class... A> std::tuple<Tensor, Tensor> sort(A...) const;
    template <class... A> std::tuple<Tensor, Tensor> topk(A...) const; template <class... A> std::vector<Tensor> split(A...) const; template <class... A> std::vector<Tensor> chunk(A...) const;
    template <class... A> std::vector<Tensor> unbind(A...) const; template <class... A> smemlint_owned<Tensor> expect_contiguous(A...) const; long sym_size(long) const; long sym_numel() const; IntArrayRef sym_sizes() const;
    int layout() const; long storage_offset() const; bool is_sparse() const; bool is_cpu() const; bool is_floating_point() const; bool is_complex() const; bool has_storage() const; bool requires_grad() const;
    bool is_meta() const; bool is_non_overlapping_and_dense() const; bool is_same(const Tensor&) const; bool has_names() const; int key_set() const; bool is_nested() const; bool is_pinned() const; long use_count() const;
    template <class... A> bool equal(A...) const; template <class... A> void backward(A...) const; std::string toString() const; void reset();
    template <class... A> Tensor fill_(A...) const; template <class... A> Tensor sum(A...) const; template <class T> T item() const; template <class... A> Tensor transpose(A...) const;
};
#undef SMEMLINT_METHOD
Tensor operator+(const Tensor&, const Tensor&); Tensor operator-(const Tensor&, const Tensor&); Tensor operator*(const Tensor&, const Tensor&); Tensor operator/(const Tensor&, const Tensor&);
template <class T> Tensor operator+(const Tensor&, T); template <class T> Tensor operator-(const Tensor&, T); template <class T> Tensor operator*(const Tensor&, T); template <class T> Tensor operator/(const Tensor&, T);
template <class... A> Tensor cat(A...); template <class... A> Tensor stack(A...); template <class... A> Tensor where(A...); template <class... A> Tensor cumsum(A...); template <class... A> Tensor rand(A...); template <class... A> Tensor randn(A...);
template <class... A> Tensor from_blob(A...); template <class... A> Tensor scalar_tensor(A...); template <class... A> Tensor matmul(A...); template <class... A> Tensor mm(A...); template <class... A> Tensor bmm(A...); template <class... A> Tensor sum(A...);
Tensor cat(ArrayRef<Tensor>, long = 0); Tensor stack(ArrayRef<Tensor>, long = 0); template <class... A> Tensor empty_strided(IntArrayRef, IntArrayRef, A...); template <class... A> Tensor resize_output(A...);
using TensorList = ArrayRef<Tensor>;
template <class... A> Tensor empty(A...); template <class... A> Tensor zeros(A...); template <class... A> Tensor empty_like(A...);
template <class... A> Tensor zeros_like(A...); template <class... A> Tensor ones(A...); template <class... A> Tensor full(A...);
template <class... A> Tensor empty(IntArrayRef, A...); template <class... A> Tensor zeros(IntArrayRef, A...); template <class... A> Tensor ones(IntArrayRef, A...);
template <class... A> Tensor full(IntArrayRef, A...); template <class... A> Tensor arange(A...); template <class... A> Tensor ones_like(A...); template <class... A> Tensor tensor(A...); template <class T, class... A> Tensor tensor(std::initializer_list<T>, A...);
namespace cuda { using namespace c10::cuda; template <class T> constexpr T ATenCeilDiv(T a, T b) { return (a + b - 1) / b; } struct OptionalCUDAGuard { template <class... A> OptionalCUDAGuard(A...); template <class... A> void set_index(A...); template <class... A> void set_device(A...); }; cudaDeviceProp* getCurrentDeviceProperties(); }
}
namespace torch {
using namespace at;
using Dtype = c10::ScalarType; using Device = at::Device;
template <class T> using optional = std::optional<T>;
constexpr at::ScalarType kFloat32 = at::kFloat, kFloat16 = at::kHalf, kInt32 = at::kInt, kInt8 = at::kChar, kUInt8 = at::kByte, kInt64 = at::kLong;
}

namespace c10 {
struct IValue {
    IValue(); template <class T> IValue(const T&); template <class T> IValue& operator=(const T&); long toInt() const; double toDouble() const; bool toBool() const; at::Tensor toTensor() const;
    std::vector<at::Tensor> toTensorVector() const; std::vector<long> toIntVector() const; std::string toStringRef() const; bool isNone() const; SymInt toSymInt() const; template <class T> T to() const;
};
}
namespace torch { namespace autograd {
using Variable = at::Tensor; using variable_list = std::vector<Variable>; using tensor_list = std::vector<at::Tensor>;
struct AutogradContext {
    struct Saved { c10::IValue& operator[](const char*); c10::IValue& operator[](const std::string&); } saved_data;
    template <class... A> void save_for_backward(A...); void save_for_backward(variable_list); variable_list get_saved_variables() const; template <class... A> void mark_non_differentiable(A...);
    void mark_non_differentiable(variable_list); template <class... A> void mark_dirty(A...); template <class... A> void set_materialize_grads(A...); bool needs_input_grad(size_t) const;
};
template <class T> struct Function { template <class... A> static auto apply(A&&... a) { return T::forward((AutogradContext*)nullptr, a...); } };
} }

#define TORCH_CHECK(c, ...) ((void)sizeof((c) ? 1 : 0))
#define TORCH_CHECK_EQ(a, b, ...) TORCH_CHECK((a) == (b))
#define TORCH_CHECK_NE(a, b, ...) TORCH_CHECK((a) != (b))
#define TORCH_CHECK_LE(a, b, ...) TORCH_CHECK((a) <= (b))
#define TORCH_CHECK_LT(a, b, ...) TORCH_CHECK((a) < (b))
#define TORCH_CHECK_GE(a, b, ...) TORCH_CHECK((a) >= (b))
#define TORCH_CHECK_GT(a, b, ...) TORCH_CHECK((a) > (b))
#define TORCH_INTERNAL_ASSERT TORCH_CHECK
#define TORCH_CHECK_VALUE TORCH_CHECK
#define AT_ASSERT TORCH_CHECK
#define AT_ASSERTM TORCH_CHECK
#define AT_ERROR(...) TORCH_CHECK(false)
#define AT_CUDA_CHECK(...) ((void)(__VA_ARGS__))
#define C10_CUDA_CHECK(...) ((void)(__VA_ARGS__))
#define C10_CUDA_KERNEL_LAUNCH_CHECK() ((void)0)
#define C10_LAUNCH_BOUNDS_1(a) __launch_bounds__(a)
#define C10_LAUNCH_BOUNDS_2(a, b) __launch_bounds__(a, b)
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_RESTRICT __restrict__
#define TORCH_FN(f) f
#define STRINGIFY(x) #x
#define TORCH_EXTENSION_NAME smemlint_extension
#define PYBIND11_MODULE(name, m) template <class smemlint_module> void name##_bind(smemlint_module& m)
#define TORCH_LIBRARY(name, m) template <class smemlint_module> void name##_library(smemlint_module& m)
#define TORCH_LIBRARY_FRAGMENT TORCH_LIBRARY
#define TORCH_LIBRARY_IMPL(name, key, m) template <class smemlint_module> void name##key##_library(smemlint_module& m)
#define SMEMLINT_LAST(T, ...) using scalar_t = T; (void)sizeof(scalar_t); (__VA_ARGS__)();
#define SMEMLINT_CASE(T, ...) { SMEMLINT_LAST(T, __VA_ARGS__) }
#define SMEMLINT_FLOATS(...) { SMEMLINT_CASE(float, __VA_ARGS__) SMEMLINT_CASE(double, __VA_ARGS__) }
#define SMEMLINT_NUMBERS(...) { SMEMLINT_FLOATS(__VA_ARGS__) SMEMLINT_CASE(int, __VA_ARGS__) SMEMLINT_CASE(long, __VA_ARGS__) }
#define SMEMLINT_OF(e, ...) SMEMLINT_LAST(typename at::smemlint_of<e>::type, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES(t, n, ...) ({ SMEMLINT_CASE(float, __VA_ARGS__) SMEMLINT_LAST(double, __VA_ARGS__) })
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(t, n, ...) ({ SMEMLINT_FLOATS(__VA_ARGS__) SMEMLINT_LAST(c10::Half, __VA_ARGS__) })
#define AT_DISPATCH_FLOATING_TYPES_AND(a, t, n, ...) ({ SMEMLINT_FLOATS(__VA_ARGS__) SMEMLINT_OF(a, __VA_ARGS__) })
#define AT_DISPATCH_FLOATING_TYPES_AND2(a, b, t, n, ...) ({ SMEMLINT_FLOATS(__VA_ARGS__) { SMEMLINT_OF(a, __VA_ARGS__) } SMEMLINT_OF(b, __VA_ARGS__) })
#define AT_DISPATCH_FLOATING_TYPES_AND3(a, b, c, t, n, ...) ({ SMEMLINT_FLOATS(__VA_ARGS__) { SMEMLINT_OF(a, __VA_ARGS__) } { SMEMLINT_OF(b, __VA_ARGS__) } SMEMLINT_OF(c, __VA_ARGS__) })
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES AT_DISPATCH_FLOATING_TYPES
#define AT_DISPATCH_ALL_TYPES(t, n, ...) ({ SMEMLINT_FLOATS(__VA_ARGS__) SMEMLINT_CASE(int, __VA_ARGS__) SMEMLINT_LAST(long, __VA_ARGS__) })
#define AT_DISPATCH_ALL_TYPES_AND(a, t, n, ...) ({ SMEMLINT_NUMBERS(__VA_ARGS__) SMEMLINT_OF(a, __VA_ARGS__) })
#define AT_DISPATCH_ALL_TYPES_AND2(a, b, t, n, ...) ({ SMEMLINT_NUMBERS(__VA_ARGS__) { SMEMLINT_OF(a, __VA_ARGS__) } SMEMLINT_OF(b, __VA_ARGS__) })
#define AT_DISPATCH_ALL_TYPES_AND3(a, b, c, t, n, ...) ({ SMEMLINT_NUMBERS(__VA_ARGS__) { SMEMLINT_OF(a, __VA_ARGS__) } { SMEMLINT_OF(b, __VA_ARGS__) } SMEMLINT_OF(c, __VA_ARGS__) })
#define AT_DISPATCH_INTEGRAL_TYPES(t, n, ...) ({ SMEMLINT_CASE(int, __VA_ARGS__) SMEMLINT_CASE(long, __VA_ARGS__) SMEMLINT_LAST(unsigned char, __VA_ARGS__) })
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(t, n, ...) ({ SMEMLINT_CASE(c10::Half, __VA_ARGS__) SMEMLINT_LAST(c10::BFloat16, __VA_ARGS__) })
#define AT_DISPATCH_INDEX_TYPES(t, n, ...) ({ { using index_t = int; (void)sizeof(index_t); (__VA_ARGS__)(); } using index_t = long; (void)sizeof(index_t); (__VA_ARGS__)(); })
#define AT_DISPATCH_SWITCH(t, n, ...) ({ __VA_ARGS__ })
#define AT_DISPATCH_CASE(e, ...) { SMEMLINT_OF(e, __VA_ARGS__) }
#define AT_DISPATCH_CASE_FLOATING_TYPES(...) SMEMLINT_FLOATS(__VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...) SMEMLINT_NUMBERS(__VA_ARGS__)
#define hipLaunchKernelGGL(kernel, grid, block, dynamic, stream, ...) kernel<<<grid, block, dynamic, stream>>>(__VA_ARGS__)
#define HIP_KERNEL_NAME(...) __VA_ARGS__
typedef cudaStream_t hipStream_t;
typedef cudaError_t hipError_t;
#pragma clang force_cuda_host_device end
