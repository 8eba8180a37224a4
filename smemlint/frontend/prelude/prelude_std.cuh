// The part of namespace std that device code uses. Bodies stand only where a constant expression needs them.
#define SMEMLINT_FUNCTION(R, n) template <class... A> R n(A...);
#define __cpp_lib_bit_cast 201806L
namespace std {
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;
using ::intptr_t; using ::uintptr_t; using ::ptrdiff_t; using ::size_t; using ::max_align_t; using ::float_t; using ::double_t;
using ::intmax_t; using ::uintmax_t;
typedef decltype(nullptr) nullptr_t;
enum class byte : unsigned char {};
enum class memory_order { relaxed, consume, acquire, release, acq_rel, seq_cst };
constexpr memory_order memory_order_relaxed = memory_order::relaxed, memory_order_acquire = memory_order::acquire,
    memory_order_release = memory_order::release, memory_order_acq_rel = memory_order::acq_rel,
    memory_order_seq_cst = memory_order::seq_cst;
struct nothrow_t {};
constexpr nothrow_t nothrow{};

template <class T, T v> struct integral_constant {
    static constexpr T value = v;
    using value_type = T;
    using type = integral_constant;
    constexpr operator T() const { return v; }
    constexpr T operator()() const { return v; }
};
template <bool B> using bool_constant = integral_constant<bool, B>;
using true_type = integral_constant<bool, true>;
using false_type = integral_constant<bool, false>;
template <bool B, class T, class F> struct conditional { using type = T; };
template <class T, class F> struct conditional<false, T, F> { using type = F; };
template <bool B, class T, class F> using conditional_t = typename conditional<B, T, F>::type;
template <bool B, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { using type = T; };
template <bool B, class T = void> using enable_if_t = typename enable_if<B, T>::type;
template <class...> using void_t = void;
template <class T, class... A> __host__ __device__ constexpr T *construct_at(T *p, A &&...);
template <class T> struct type_identity { using type = T; };
template <class T> struct remove_reference { using type = T; };
template <class T> struct remove_reference<T&> { using type = T; };
template <class T> struct remove_reference<T&&> { using type = T; };
template <class T> struct remove_const { using type = T; };
template <class T> struct remove_const<const T> { using type = T; };
template <class T> struct remove_volatile { using type = T; };
template <class T> struct remove_volatile<volatile T> { using type = T; };
template <class T> struct remove_cv { using type = typename remove_volatile<typename remove_const<T>::type>::type; };
template <class T> struct remove_cvref { using type = typename remove_cv<typename remove_reference<T>::type>::type; };
template <class T> struct remove_pointer { using type = T; };
template <class T> struct remove_pointer<T*> { using type = T; };
template <class T> struct remove_extent { using type = T; };
template <class T, size_t N> struct remove_extent<T[N]> { using type = T; };
template <class T> struct add_const { using type = const T; };
template <class T> struct add_pointer { using type = typename remove_reference<T>::type*; };
template <class T> struct add_lvalue_reference { using type = T&; };
template <class T> struct add_rvalue_reference { using type = T&&; };
template <class T> struct decay { using type = typename remove_cvref<T>::type; };
template <class T> struct make_unsigned { using type = __make_unsigned(T); };
template <class T> struct make_signed { using type = __make_signed(T); };
template <class T> struct underlying_type { using type = __underlying_type(T); };
template <class... T> struct common_type { using type = int; };
template <class T> struct common_type<T> { using type = T; };
template <class A, class B> struct common_type<A, B> { using type = decltype(true ? A() : B()); };
template <class F, class... A> struct invoke_result { using type = decltype((*(F*)0)((*(A*)0)...)); };
template <class F> struct result_of;
template <class F, class... A> struct result_of<F(A...)> : invoke_result<F, A...> {};
template <size_t S, size_t A = 8> struct aligned_storage { struct alignas(A) type { unsigned char data[S]; }; };
#define SMEMLINT_ALIAS(n) template <class T> using n##_t = typename n<T>::type;
SMEMLINT_ALIAS(remove_reference) SMEMLINT_ALIAS(remove_const) SMEMLINT_ALIAS(remove_volatile) SMEMLINT_ALIAS(remove_cv)
SMEMLINT_ALIAS(remove_cvref) SMEMLINT_ALIAS(remove_pointer) SMEMLINT_ALIAS(remove_extent) SMEMLINT_ALIAS(add_const)
SMEMLINT_ALIAS(add_pointer) SMEMLINT_ALIAS(add_lvalue_reference) SMEMLINT_ALIAS(add_rvalue_reference)
SMEMLINT_ALIAS(decay) SMEMLINT_ALIAS(make_unsigned) SMEMLINT_ALIAS(make_signed) SMEMLINT_ALIAS(underlying_type)
SMEMLINT_ALIAS(result_of) SMEMLINT_ALIAS(type_identity)
#undef SMEMLINT_ALIAS
template <class... T> using common_type_t = typename common_type<T...>::type;
template <class F, class... A> using invoke_result_t = typename invoke_result<F, A...>::type;
template <size_t S, size_t A = 8> using aligned_storage_t = typename aligned_storage<S, A>::type;
template <class T, class U> struct is_same : false_type {};
template <class T> struct is_same<T, T> : true_type {};
template <class T, class U> constexpr bool is_same_v = is_same<T, U>::value;
template <class T, class U> struct is_base_of : bool_constant<__is_base_of(T, U)> {};
template <class T, class U> struct is_convertible : bool_constant<__is_convertible_to(T, U)> {};
template <class T, class U> struct is_assignable : bool_constant<__is_assignable(T, U)> {};
template <class T, class... A> struct is_constructible : bool_constant<__is_constructible(T, A...)> {};
template <class F, class... A> struct is_invocable : true_type {};
template <class T> T declval() noexcept;
#define SMEMLINT_TRAIT(n, v)                                   \
    template <class T> struct n : bool_constant<v> {};         \
    template <class T> constexpr bool n##_v = n<T>::value;
SMEMLINT_TRAIT(is_arithmetic, __is_arithmetic(T)) SMEMLINT_TRAIT(is_integral, __is_integral(T))
SMEMLINT_TRAIT(is_floating_point, __is_floating_point(T)) SMEMLINT_TRAIT(is_signed, __is_signed(T))
SMEMLINT_TRAIT(is_unsigned, __is_unsigned(T)) SMEMLINT_TRAIT(is_pointer, __is_pointer(T))
SMEMLINT_TRAIT(is_void, __is_void(T)) SMEMLINT_TRAIT(is_const, __is_const(T)) SMEMLINT_TRAIT(is_enum, __is_enum(T))
SMEMLINT_TRAIT(is_class, __is_class(T)) SMEMLINT_TRAIT(is_empty, __is_empty(T)) SMEMLINT_TRAIT(is_array, __is_array(T))
SMEMLINT_TRAIT(is_reference, __is_reference(T)) SMEMLINT_TRAIT(is_function, __is_function(T))
SMEMLINT_TRAIT(is_scalar, __is_scalar(T)) SMEMLINT_TRAIT(is_trivial, __is_trivial(T)) SMEMLINT_TRAIT(is_pod, __is_pod(T))
SMEMLINT_TRAIT(is_trivially_copyable, __is_trivially_copyable(T))
SMEMLINT_TRAIT(is_standard_layout, __is_standard_layout(T)) SMEMLINT_TRAIT(is_lvalue_reference, __is_lvalue_reference(T))
SMEMLINT_TRAIT(is_default_constructible, __is_constructible(T)) SMEMLINT_TRAIT(is_fundamental, __is_fundamental(T))
SMEMLINT_TRAIT(is_rvalue_reference, __is_rvalue_reference(T)) SMEMLINT_TRAIT(is_volatile, __is_volatile(T))
SMEMLINT_TRAIT(is_trivially_destructible, true) SMEMLINT_TRAIT(is_final, __is_final(T))
#undef SMEMLINT_TRAIT
template <class T, class U> constexpr bool is_base_of_v = is_base_of<T, U>::value;
template <class T, class U> constexpr bool is_convertible_v = is_convertible<T, U>::value;
template <class T, class... A> constexpr bool is_constructible_v = is_constructible<T, A...>::value;
template <class F, class... A> constexpr bool is_invocable_v = true;
template <class...> struct conjunction : true_type {};
template <class B, class... R> struct conjunction<B, R...> : conditional_t<bool(B::value), conjunction<R...>, B> {};
template <class...> struct disjunction : false_type {};
template <class B, class... R> struct disjunction<B, R...> : conditional_t<bool(B::value), B, disjunction<R...>> {};
template <class B> struct negation : bool_constant<!bool(B::value)> {};
template <class... B> constexpr bool conjunction_v = conjunction<B...>::value;
template <class... B> constexpr bool disjunction_v = disjunction<B...>::value;
template <class B> constexpr bool negation_v = negation<B>::value;
#if __cplusplus > 201703L
template <class T, class U> concept same_as = is_same_v<T, U>;
template <class T, class U> concept derived_from = is_base_of_v<U, T>;
template <class T, class U> concept convertible_to = is_convertible_v<T, U>;
template <class T, class... A> concept constructible_from = is_constructible_v<T, A...>;
template <class T> concept integral = is_integral_v<T>;
template <class T> concept signed_integral = is_integral_v<T> && is_signed_v<T>;
template <class T> concept unsigned_integral = is_integral_v<T> && !is_signed_v<T>;
template <class T> concept floating_point = is_floating_point_v<T>;
template <class F, class... A> concept invocable = requires(F f, A... a) { f(a...); };
template <class F, class... A> concept predicate = invocable<F, A...>;
#endif
template <class T> struct alignment_of : integral_constant<size_t, alignof(T)> {};
template <class T> struct rank : integral_constant<size_t, 0> {};
template <class T> struct rank<T[]> : integral_constant<size_t, rank<T>::value + 1> {};
template <class T, size_t N> struct rank<T[N]> : integral_constant<size_t, rank<T>::value + 1> {};
template <class T> constexpr size_t rank_v = rank<T>::value;
template <class T, unsigned I = 0> struct extent : integral_constant<size_t, 0> {};
template <class T, unsigned I> struct extent<T[], I> : extent<T, I - 1> {};
template <class T> struct extent<T[], 0> : integral_constant<size_t, 0> {};
template <class T, size_t N, unsigned I> struct extent<T[N], I> : extent<T, I - 1> {};
template <class T, size_t N> struct extent<T[N], 0> : integral_constant<size_t, N> {};
template <class T, unsigned I = 0> constexpr size_t extent_v = extent<T, I>::value;
constexpr bool is_constant_evaluated() { return false; }

template <class T> constexpr remove_reference_t<T>&& move(T&& t) noexcept { return static_cast<remove_reference_t<T>&&>(t); }
template <class T> constexpr T&& forward(remove_reference_t<T>& t) noexcept { return static_cast<T&&>(t); }
template <class T> constexpr T&& forward(remove_reference_t<T>&& t) noexcept { return static_cast<T&&>(t); }
template <class T> void swap(T& a, T& b);
template <class T, class U> T exchange(T& a, U b);
template <class T> constexpr const T& as_const(T& t) { return t; }
template <class T> constexpr T* addressof(T& t) { return __builtin_addressof(t); }
template <class T> constexpr T* launder(T* t) { return t; }
template <class To, class From> To bit_cast(From);
template <class A, class B> constexpr auto min(A a, B b) -> remove_reference_t<decltype(a < b ? a : b)> { return a < b ? a : b; }
template <class A, class B> constexpr auto max(A a, B b) -> remove_reference_t<decltype(a < b ? b : a)> { return a < b ? b : a; }
template <class T, class C> constexpr T min(T a, T b, C c) { return c(b, a) ? b : a; }
template <class T, class C> constexpr T max(T a, T b, C c) { return c(a, b) ? b : a; }
template <class T> constexpr T clamp(T a, decltype(T()) l, decltype(T()) h) { return a < l ? l : h < a ? h : a; }
template <class T> constexpr T abs(T a) { return a < 0 ? -a : a; }
template <class A, class B> constexpr auto gcd(A a, B b) -> decltype(a % b) { return b == 0 ? a : gcd(b, decltype(a % b)(a % b)); }
template <class A, class B> constexpr auto lcm(A a, B b) -> decltype(a * b) { return a / gcd(a, b) * b; }
template <class T> constexpr int popcount(T v) { return __builtin_popcountll(v); }
template <class T> constexpr int countl_zero(T v) { return v ? __builtin_clzll(v) - int(64 - 8 * sizeof(T)) : int(8 * sizeof(T)); }
template <class T> constexpr int countr_zero(T v) { return v ? __builtin_ctzll(v) : int(8 * sizeof(T)); }
template <class T> constexpr int bit_width(T v) { return int(8 * sizeof(T)) - countl_zero(v); }
template <class T> constexpr bool has_single_bit(T v) { return v && !(v & (v - 1)); }
template <class T> constexpr T bit_ceil(T v) { return v <= 1 ? T(1) : T(T(1) << bit_width(T(v - 1))); }
template <class T> constexpr T bit_floor(T v) { return v ? T(T(1) << (bit_width(v) - 1)) : T(0); }

template <class T, size_t N = size_t(-1)> struct span {
    constexpr span(); template <class P> constexpr span(P*, size_t); template <class P> constexpr span(P*, P*);
    template <class A> constexpr span(A&&);
    constexpr T& operator[](size_t) const; constexpr T& front() const; constexpr T& back() const;
    constexpr T* data() const; constexpr T* begin() const; constexpr T* end() const;
    constexpr size_t size() const; constexpr size_t size_bytes() const; constexpr bool empty() const;
    constexpr span<T> subspan(size_t, size_t = size_t(-1)) const;
    constexpr span<T> first(size_t) const; constexpr span<T> last(size_t) const;
    template <size_t K> constexpr span<T, K> first() const; template <size_t K> constexpr span<T, K> last() const;
    template <size_t O, size_t K = size_t(-1)> constexpr span<T> subspan() const;
    static constexpr size_t extent = N;
};
template <class P> span(P*, size_t) -> span<P>;
template <class T, size_t N> span(T (&)[N]) -> span<T, N>;

template <class T> struct numeric_limits {
    static constexpr bool is_specialized = true, is_signed = T(-1) < T(0), is_integer = is_integral<T>::value;
    static constexpr bool has_infinity = !is_integer, has_quiet_NaN = !is_integer, is_iec559 = !is_integer;
    static constexpr int digits = sizeof(T) * 8 - is_signed, digits10 = 6, max_digits10 = 9, radix = 2;
    static constexpr T min() { return is_integer && is_signed ? T(1ull << (sizeof(T) * 8 - 1)) : T(0); }
    static constexpr T max() { return is_integer ? T(~(is_signed ? 1ull << (sizeof(T) * 8 - 1) : 0ull)) : sizeof(T) == 8 ? T(1.7976931348623157e308) : T(3.4028234663852886e38f); }
    static constexpr T lowest() { return is_integer ? min() : -max(); }
    static constexpr T epsilon() { return T(1.1920929e-7f); }
    static constexpr T infinity() { return T(__builtin_huge_val()); }
    static constexpr T quiet_NaN() { return T(__builtin_nan("")); }
    static constexpr T signaling_NaN() { return T(__builtin_nan("")); }
    static constexpr T denorm_min() { return T(0); }
};
template <class T> struct initializer_list {
    const T* data; size_t count;
    constexpr size_t size() const { return count; }
    constexpr const T* begin() const { return data; }
    constexpr const T* end() const { return data + count; }
};
template <class T, size_t N> struct array {
    T elements[N];
    using value_type = T; using iterator = T*; using const_iterator = const T*; using size_type = size_t;
    using reference = T&; using const_reference = const T&;
    constexpr T& operator[](size_t i) { return elements[i]; }
    constexpr const T& operator[](size_t i) const { return elements[i]; }
    constexpr T& at(size_t i) { return elements[i]; }
    constexpr const T& at(size_t i) const { return elements[i]; }
    constexpr T& front() { return elements[0]; }
    constexpr const T& front() const { return elements[0]; }
    constexpr T& back() { return elements[N - 1]; }
    constexpr const T& back() const { return elements[N - 1]; }
    constexpr const T* cbegin() const { return elements; }
    constexpr const T* cend() const { return elements + N; }
    constexpr T* data() { return elements; }
    constexpr const T* data() const { return elements; }
    constexpr T* begin() { return elements; }
    constexpr T* end() { return elements + N; }
    constexpr const T* begin() const { return elements; }
    constexpr const T* end() const { return elements + N; }
    constexpr void fill(const T&) {}
    static constexpr size_t size() { return N; }
    static constexpr bool empty() { return N == 0; }
};
template <class T> struct array<T, 0> { static constexpr size_t size() { return 0; } };
template <class T, class... U> array(T, U...) -> array<T, 1 + sizeof...(U)>;
template <class A, class B> struct pair {
    using first_type = A; using second_type = B;
    A first; B second;
    pair() = default;
    constexpr pair(const A& a, const B& b) : first(a), second(b) {}
    template <class P, class Q> constexpr pair(const pair<P, Q>& p) : first(p.first), second(p.second) {}
};
template <class A, class B> pair(A, B) -> pair<A, B>;
template <class A, class B> constexpr pair<decay_t<A>, decay_t<B>> make_pair(A a, B b) { return {a, b}; }
template <class... T> struct tuple {
    tuple() = default;
    template <class... U> constexpr tuple(U&&...) {}
    template <class U> tuple& operator=(const U&);
};
template <class... T> tuple(T...) -> tuple<T...>;
template <size_t I, class... T> struct tuple_element;
template <size_t I, class H, class... T> struct tuple_element<I, tuple<H, T...>> : tuple_element<I - 1, tuple<T...>> {};
template <class H, class... T> struct tuple_element<0, tuple<H, T...>> { using type = H; };
template <class A, class B> struct tuple_element<0, pair<A, B>> { using type = A; };
template <class A, class B> struct tuple_element<1, pair<A, B>> { using type = B; };
template <class T, size_t N> struct tuple_element<0, array<T, N>> { using type = T; };
template <size_t I, class T> using tuple_element_t = typename tuple_element<I, T>::type;
template <class T> struct tuple_size;
template <class... T> struct tuple_size<tuple<T...>> : integral_constant<size_t, sizeof...(T)> {};
template <class T, size_t N> struct tuple_size<array<T, N>> : integral_constant<size_t, N> {};
template <class T> constexpr size_t tuple_size_v = tuple_size<T>::value;
template <size_t I, class T> tuple_element_t<I, T>& get(T&);
template <size_t I, class T> const tuple_element_t<I, T>& get(const T&);
template <size_t I, class T, size_t N> constexpr T& get(array<T, N>& a) { return a.elements[I]; }
template <class... T> tuple<decay_t<T>...> make_tuple(T...);
template <class... T> tuple<T&...> tie(T&...);
template <class... T> tuple<T&&...> forward_as_tuple(T&&...);
template <class F, class T> auto apply(F, T&&) -> void;
struct monostate {};
template <class... T> struct variant {
    void* held; size_t which;
    variant();
    template <class U> variant(U&&) {}
    template <class U> variant& operator=(U&&);
    template <class U> U& emplace(U);
    size_t index() const { return which; }
};
template <class F, class A> constexpr decltype(auto) visit_one(F f, size_t, A* a) { return f(*a); }
template <class F, class A, class B, class... R> constexpr decltype(auto) visit_one(F f, size_t i, A* a, B* b, R*... r) {
    if (i == 0) return f(*a);
    return visit_one(f, i - 1, b, r...);
}
template <class F, class... A> constexpr decltype(auto) visit(F f, variant<A...> v) {
    return visit_one(f, v.which, static_cast<A*>(nullptr)...);
}
template <class F, class... A, class B, class... R> constexpr decltype(auto) visit(F f, variant<A...> v, B w, R... r) {
    return visit([&](auto a) { return visit([&](auto... b) { return f(a, b...); }, w, r...); }, v);
}
template <class U, class... A> U& get(variant<A...>&);
template <class U, class... A> U* get_if(variant<A...>*);
template <class U, class... A> bool holds_alternative(const variant<A...>&);
template <class T, T... I> struct integer_sequence { static constexpr size_t size() { return sizeof...(I); } };
template <size_t... I> using index_sequence = integer_sequence<size_t, I...>;
template <class T, T N> using make_integer_sequence = __make_integer_seq<integer_sequence, T, N>;
template <size_t N> using make_index_sequence = make_integer_sequence<size_t, N>;
template <class... T> using index_sequence_for = make_index_sequence<sizeof...(T)>;
template <size_t I> struct in_place_index_t {};
struct piecewise_construct_t {};
template <class T> struct complex {
    T r, i;
    constexpr complex(T r = T(), T i = T()) : r(r), i(i) {}
    constexpr T real() const { return r; }
    constexpr T imag() const { return i; }
    complex operator+(complex) const; complex operator-(complex) const;
    complex operator*(complex) const; complex operator/(complex) const;
    complex& operator+=(complex); complex& operator*=(complex);
};
template <class T> struct optional {
    T* held; size_t count;
    optional() = default;
    template <class U> optional(U);
    T& value() const; T& operator*() const; T* operator->() const; bool has_value() const; explicit operator bool() const;
    template <class U> T value_or(U) const; void reset(); template <class... U> T& emplace(U&&...);
};
template <class T> optional<decay_t<T>> make_optional(T);
struct nullopt_t {};
constexpr nullopt_t nullopt{};
#define SMEMLINT_FUNCTOR(n, op) \
    template <class T = void> struct n { template <class A, class B> constexpr auto operator()(A a, B b) const { return a op b; } };
SMEMLINT_FUNCTOR(plus, +) SMEMLINT_FUNCTOR(minus, -) SMEMLINT_FUNCTOR(multiplies, *) SMEMLINT_FUNCTOR(divides, /)
SMEMLINT_FUNCTOR(modulus, %) SMEMLINT_FUNCTOR(less, <) SMEMLINT_FUNCTOR(greater, >) SMEMLINT_FUNCTOR(less_equal, <=)
SMEMLINT_FUNCTOR(greater_equal, >=) SMEMLINT_FUNCTOR(equal_to, ==) SMEMLINT_FUNCTOR(not_equal_to, !=)
SMEMLINT_FUNCTOR(bit_and, &) SMEMLINT_FUNCTOR(bit_or, |) SMEMLINT_FUNCTOR(bit_xor, ^) SMEMLINT_FUNCTOR(logical_and, &&)
SMEMLINT_FUNCTOR(logical_or, ||)
#undef SMEMLINT_FUNCTOR
template <class T = void> struct negate { T operator()(const T&) const; };
template <class T = void> struct identity { constexpr T operator()(T a) const { return a; } };
template <class T> struct hash { size_t operator()(const T&) const; };

SMEMLINT_FUNCTION(void, terminate) SMEMLINT_FUNCTION(int, stoi) SMEMLINT_FUNCTION(float, stof)
// Algorithms.
SMEMLINT_FUNCTION(void, fill) SMEMLINT_FUNCTION(void, fill_n) SMEMLINT_FUNCTION(void, copy) SMEMLINT_FUNCTION(void, copy_n)
SMEMLINT_FUNCTION(void, sort) SMEMLINT_FUNCTION(void, stable_sort) SMEMLINT_FUNCTION(void, reverse) SMEMLINT_FUNCTION(void, iota)
SMEMLINT_FUNCTION(void, generate) SMEMLINT_FUNCTION(void, for_each) SMEMLINT_FUNCTION(void, shuffle)
SMEMLINT_FUNCTION(void, transform) SMEMLINT_FUNCTION(bool, equal) SMEMLINT_FUNCTION(bool, all_of) SMEMLINT_FUNCTION(bool, any_of)
SMEMLINT_FUNCTION(void, partial_sort) SMEMLINT_FUNCTION(void, nth_element) SMEMLINT_FUNCTION(void, partial_sum)
template <class I, class T> T accumulate(I, I, T); template <class I, class T, class F> T accumulate(I, I, T, F);
template <class I, class T, class... A> T reduce(I, I, T, A...); template <class C> C* back_inserter(C&);
SMEMLINT_FUNCTION(void, copy_if) SMEMLINT_FUNCTION(void, generate_n) SMEMLINT_FUNCTION(void, inclusive_scan)
SMEMLINT_FUNCTION(void, exclusive_scan) SMEMLINT_FUNCTION(void, rotate) SMEMLINT_FUNCTION(bool, none_of) SMEMLINT_FUNCTION(bool, binary_search)
SMEMLINT_FUNCTION(long, count) SMEMLINT_FUNCTION(long, count_if)
#define SMEMLINT_PLACE(n) template <class I, class... A> I n(I, A...);
SMEMLINT_PLACE(max_element) SMEMLINT_PLACE(min_element) SMEMLINT_PLACE(find) SMEMLINT_PLACE(find_if) SMEMLINT_PLACE(find_if_not)
SMEMLINT_PLACE(lower_bound) SMEMLINT_PLACE(upper_bound) SMEMLINT_PLACE(unique) SMEMLINT_PLACE(next) SMEMLINT_PLACE(prev)
#undef SMEMLINT_PLACE
template <class I> long distance(I, I);
template <class T, size_t N> constexpr size_t size(const T (&)[N]) noexcept { return N; }
template <class C> constexpr auto size(const C& c) -> decltype(c.size()) { return c.size(); }
template <class T, size_t N> constexpr ptrdiff_t ssize(const T (&)[N]) noexcept { return N; }
template <class C> constexpr auto ssize(const C& c) -> decltype(ptrdiff_t(c.size())) { return c.size(); }
#define SMEMLINT_OF(name, of_array, method)                                                        \
    template <class T, size_t N> constexpr T* name(T (&a)[N]) noexcept { return of_array; }        \
    template <class C> constexpr auto name(C& c) -> decltype(c.method()) { return c.method(); }
SMEMLINT_OF(begin, a, begin) SMEMLINT_OF(end, a + N, end) SMEMLINT_OF(data, a, data)
SMEMLINT_OF(cbegin, a, begin) SMEMLINT_OF(cend, a + N, end)
#undef SMEMLINT_OF
}  // namespace std
using std::size_t;
// In CUDA these are visible without a namespace.
template <class A, class B> constexpr auto min(A a, B b) -> std::remove_reference_t<decltype(a < b ? a : b)> { return a < b ? a : b; }
template <class A, class B> constexpr auto max(A a, B b) -> std::remove_reference_t<decltype(a < b ? b : a)> { return a < b ? b : a; }
template <class T> constexpr T abs(T a) { return a < 0 ? -a : a; }
template <class T> T labs(T); template <class T> T llabs(T);

// A healed type converts to everything but another one, whose constructor takes it.
namespace smemlint {
template <class T, class = void> struct other { using type = void; };
template <class T> struct other<T, typename T::smemlint_healed> {};
template <class T> using unless_healed = typename other<T>::type;
}  // namespace smemlint
