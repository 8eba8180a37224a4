// GLM's vectors and matrices as they lie in memory: plain, aligned as their elements are. No operator has a body.
namespace glm {
typedef int length_t;
enum qualifier { packed_highp, packed_mediump, packed_lowp, highp = packed_highp, mediump, lowp, defaultp = highp };
namespace detail {
#define SMEMLINT_GLM_VECTOR(n, ...) \
    template <class T> struct vec##n { \
        typedef T value_type; \
        __VA_ARGS__ \
        vec##n() = default; \
        template <class A, class... B> vec##n(const A&, const B&...); \
        static constexpr length_t length() { return n; } \
        T& operator[](length_t i); \
        const T& operator[](length_t i) const; \
        template <class U> vec##n& operator+=(const U&); \
        template <class U> vec##n& operator-=(const U&); \
        template <class U> vec##n& operator*=(const U&); \
        template <class U> vec##n& operator/=(const U&); \
    }; \
    SMEMLINT_GLM_OPERATOR(n, +) SMEMLINT_GLM_OPERATOR(n, -) SMEMLINT_GLM_OPERATOR(n, *) SMEMLINT_GLM_OPERATOR(n, /) \
    SMEMLINT_GLM_OPERATOR(n, %) SMEMLINT_GLM_OPERATOR(n, &) SMEMLINT_GLM_OPERATOR(n, |) SMEMLINT_GLM_OPERATOR(n, ^) \
    SMEMLINT_GLM_OPERATOR(n, <<) SMEMLINT_GLM_OPERATOR(n, >>) \
    template <class T> vec##n<T> operator-(vec##n<T>); \
    template <class T> bool operator==(vec##n<T>, vec##n<T>); \
    template <class T> bool operator!=(vec##n<T>, vec##n<T>); \
    template <class T> struct vector<n, T> { typedef vec##n<T> type; };
#define SMEMLINT_GLM_OPERATOR(n, o) \
    template <class T> vec##n<T> operator o(vec##n<T>, vec##n<T>); \
    template <class T, class U> vec##n<T> operator o(vec##n<T>, U); \
    template <class T, class U> vec##n<T> operator o(U, vec##n<T>);
template <length_t L, class T> struct vector;
SMEMLINT_GLM_VECTOR(1, union { T x, r, s; };)
SMEMLINT_GLM_VECTOR(2, union { T x, r, s; }; union { T y, g, t; };)
SMEMLINT_GLM_VECTOR(3, union { T x, r, s; }; union { T y, g, t; }; union { T z, b, p; };)
SMEMLINT_GLM_VECTOR(4, union { T x, r, s; }; union { T y, g, t; }; union { T z, b, p; }; union { T w, a, q; };)
#undef SMEMLINT_GLM_OPERATOR
#undef SMEMLINT_GLM_VECTOR
template <length_t C, length_t R, class T> struct matrix {
    typedef T value_type;
    typedef typename vector<R, T>::type col_type;
    T value[C * R];
    matrix() = default;
    template <class A, class... B> matrix(const A&, const B&...);
    static constexpr length_t length() { return C; }
    col_type& operator[](length_t i);
    const col_type& operator[](length_t i) const;
    template <class U> matrix& operator+=(const U&);
    template <class U> matrix& operator-=(const U&);
    template <class U> matrix& operator*=(const U&);
    template <class U> matrix& operator/=(const U&);
};
template <length_t C, length_t R, class T> matrix<C, R, T> operator-(matrix<C, R, T>);
template <length_t C, length_t R, class T, class U> matrix<C, R, T> operator+(matrix<C, R, T>, U);
template <length_t C, length_t R, class T, class U> matrix<C, R, T> operator-(matrix<C, R, T>, U);
template <length_t C, length_t R, class T> matrix<C, R, T> operator*(matrix<C, R, T>, T);
template <length_t C, length_t R, class T> matrix<C, R, T> operator*(T, matrix<C, R, T>);
template <length_t C, length_t R, class T> matrix<C, R, T> operator/(matrix<C, R, T>, T);
template <length_t C, length_t R, class T> typename vector<R, T>::type operator*(matrix<C, R, T>, typename vector<C, T>::type);
template <length_t C, length_t R, class T> typename vector<C, T>::type operator*(typename vector<R, T>::type, matrix<C, R, T>);
template <length_t K, length_t R, class T, length_t C> matrix<C, R, T> operator*(matrix<K, R, T>, matrix<C, K, T>);
template <class T> struct quaternion {
    T x, y, z, w;
    quaternion() = default;
    template <class A, class... B> quaternion(const A&, const B&...);
    T& operator[](length_t i);
    const T& operator[](length_t i) const;
};
template <class T> vec3<T> operator*(quaternion<T>, vec3<T>);
template <class T> quaternion<T> operator*(quaternion<T>, quaternion<T>);
}  // namespace detail
template <length_t L, class T, qualifier Q = defaultp> using vec = typename detail::vector<L, T>::type;
template <length_t C, length_t R, class T, qualifier Q = defaultp> using mat = detail::matrix<C, R, T>;
template <class T, qualifier Q = defaultp> using qua = detail::quaternion<T>;
template <class T, qualifier Q = defaultp> using tvec2 = detail::vec2<T>;
template <class T, qualifier Q = defaultp> using tvec3 = detail::vec3<T>;
template <class T, qualifier Q = defaultp> using tvec4 = detail::vec4<T>;
#define SMEMLINT_GLM_SIZE(n) \
    typedef detail::vec##n<float> vec##n, fvec##n; \
    typedef detail::vec##n<double> dvec##n; \
    typedef detail::vec##n<int> ivec##n, i32vec##n; \
    typedef detail::vec##n<unsigned> uvec##n, u32vec##n; \
    typedef detail::vec##n<bool> bvec##n; \
    typedef detail::vec##n<signed char> i8vec##n; \
    typedef detail::vec##n<unsigned char> u8vec##n; \
    typedef detail::vec##n<short> i16vec##n; \
    typedef detail::vec##n<unsigned short> u16vec##n; \
    typedef detail::vec##n<long> i64vec##n; \
    typedef detail::vec##n<unsigned long> u64vec##n;
SMEMLINT_GLM_SIZE(1) SMEMLINT_GLM_SIZE(2) SMEMLINT_GLM_SIZE(3) SMEMLINT_GLM_SIZE(4)
#undef SMEMLINT_GLM_SIZE
#define SMEMLINT_GLM_MATRIX(c) \
    typedef detail::matrix<c, 2, float> mat##c##x2; \
    typedef detail::matrix<c, 3, float> mat##c##x3; \
    typedef detail::matrix<c, 4, float> mat##c##x4; \
    typedef detail::matrix<c, c, float> mat##c, fmat##c; \
    typedef detail::matrix<c, c, double> dmat##c;
SMEMLINT_GLM_MATRIX(2) SMEMLINT_GLM_MATRIX(3) SMEMLINT_GLM_MATRIX(4)
#undef SMEMLINT_GLM_MATRIX
typedef detail::quaternion<float> quat, fquat;
typedef detail::quaternion<double> dquat;
#define SMEMLINT_GLM_SAME(f) template <class T, class... A> T f(T, const A&...);
SMEMLINT_GLM_SAME(abs) SMEMLINT_GLM_SAME(acos) SMEMLINT_GLM_SAME(asin) SMEMLINT_GLM_SAME(atan)
SMEMLINT_GLM_SAME(ceil) SMEMLINT_GLM_SAME(clamp) SMEMLINT_GLM_SAME(conjugate) SMEMLINT_GLM_SAME(cos)
SMEMLINT_GLM_SAME(cross) SMEMLINT_GLM_SAME(exp) SMEMLINT_GLM_SAME(exp2) SMEMLINT_GLM_SAME(floor)
SMEMLINT_GLM_SAME(fract) SMEMLINT_GLM_SAME(inverse) SMEMLINT_GLM_SAME(inversesqrt) SMEMLINT_GLM_SAME(log)
SMEMLINT_GLM_SAME(log2) SMEMLINT_GLM_SAME(lookAt) SMEMLINT_GLM_SAME(max) SMEMLINT_GLM_SAME(min)
SMEMLINT_GLM_SAME(mix) SMEMLINT_GLM_SAME(mod) SMEMLINT_GLM_SAME(normalize) SMEMLINT_GLM_SAME(pow)
SMEMLINT_GLM_SAME(reflect) SMEMLINT_GLM_SAME(rotate) SMEMLINT_GLM_SAME(round) SMEMLINT_GLM_SAME(scale)
SMEMLINT_GLM_SAME(sign) SMEMLINT_GLM_SAME(sin) SMEMLINT_GLM_SAME(slerp) SMEMLINT_GLM_SAME(smoothstep)
SMEMLINT_GLM_SAME(sqrt) SMEMLINT_GLM_SAME(step) SMEMLINT_GLM_SAME(tan) SMEMLINT_GLM_SAME(translate)
SMEMLINT_GLM_SAME(transpose) SMEMLINT_GLM_SAME(trunc)
#undef SMEMLINT_GLM_SAME
template <class V, class... A> typename V::value_type dot(V, const A&...);
template <class V> typename V::value_type length(V);
template <class V> typename V::value_type length2(V);
template <class V> typename V::value_type distance(V, V);
template <class V> typename V::value_type distance2(V, V);
template <class M> typename M::value_type determinant(M);
template <class V> typename V::value_type* value_ptr(V&);
template <class V> const typename V::value_type* value_ptr(const V&);
template <class T> detail::matrix<3, 3, T> outerProduct(detail::vec3<T>, detail::vec3<T>);
template <class T> detail::matrix<3, 3, T> mat3_cast(detail::quaternion<T>);
template <class T> detail::vec2<T> make_vec2(const T*);
template <class T> detail::vec3<T> make_vec3(const T*);
template <class T> detail::vec4<T> make_vec4(const T*);
template <class T> T radians(T);
template <class T> T degrees(T);
}  // namespace glm
