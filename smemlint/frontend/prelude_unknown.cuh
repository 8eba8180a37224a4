// What an undeclared name is declared as: a value of unknown type that converts to and from everything and takes every operator.
// The names themselves, and the members that programs ask of them, are written per file (healed.cuh).
namespace smemlint {
struct any_base {};
template <class T> constexpr bool is_any = __is_base_of(any_base, std::remove_cvref_t<T>);
template <class A, class B> using if_any = std::enable_if_t<is_any<A> || is_any<B>>;
template <class Tag> struct any_of;
using unknown = any_of<void>;
template <class...> struct later { using type = any_of<void>; };  // unknown, looked at only when instantiated
// Conversions are by template so that each target is reached in one way; the one to int serves `switch`.
struct any_operations : any_base {
    template <class T, class = std::enable_if_t<!is_any<T>>> constexpr operator T() const { return T(); }
    constexpr operator int() const { return 1; }
    template <class T> constexpr typename later<T>::type operator[](T) const { return {}; }
    template <class... A> constexpr typename later<A...>::type operator()(A...) const { return {}; }
    constexpr unknown operator*() const;
    constexpr unknown operator~() const;
    constexpr unknown operator-() const;
    constexpr unknown operator+() const;
    constexpr const unknown* operator->() const { return nullptr; }
    constexpr unknown operator++() const;
    constexpr unknown operator--() const;
    constexpr unknown operator++(int) const;
    constexpr unknown operator--(int) const;
    template <class T> constexpr unknown operator+=(T) const;
    template <class T> constexpr unknown operator-=(T) const;
    template <class T> constexpr unknown operator*=(T) const;
    template <class T> constexpr unknown operator/=(T) const;
    template <class T> constexpr unknown operator%=(T) const;
    template <class T> constexpr unknown operator&=(T) const;
    template <class T> constexpr unknown operator|=(T) const;
    template <class T> constexpr unknown operator^=(T) const;
    template <class T> constexpr unknown operator<<=(T) const;
    template <class T> constexpr unknown operator>>=(T) const;
    constexpr const unknown* begin() const { return nullptr; }
    constexpr const unknown* end() const { return nullptr; }
};
struct number : any_operations {
    constexpr number() {}
    template <class T> constexpr const number& operator=(T) const { return *this; }
};
#define SMEMLINT_ARITHMETIC(op) \
    template <class A, class B, class = if_any<A, B>> constexpr typename later<A, B>::type operator op(A, B) { return {}; }
#define SMEMLINT_COMPARISON(op) \
    template <class A, class B, class = if_any<A, B>> constexpr bool operator op(A, B) { return true; }
SMEMLINT_ARITHMETIC(+) SMEMLINT_ARITHMETIC(-) SMEMLINT_ARITHMETIC(*) SMEMLINT_ARITHMETIC(/) SMEMLINT_ARITHMETIC(%)
SMEMLINT_ARITHMETIC(&) SMEMLINT_ARITHMETIC(|) SMEMLINT_ARITHMETIC(^) SMEMLINT_ARITHMETIC(<<) SMEMLINT_ARITHMETIC(>>)
SMEMLINT_COMPARISON(<) SMEMLINT_COMPARISON(>) SMEMLINT_COMPARISON(<=) SMEMLINT_COMPARISON(>=)
SMEMLINT_COMPARISON(==) SMEMLINT_COMPARISON(!=)
#undef SMEMLINT_ARITHMETIC
#undef SMEMLINT_COMPARISON
}  // namespace smemlint
#pragma clang force_cuda_host_device end
