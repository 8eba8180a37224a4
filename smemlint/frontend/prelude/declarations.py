"""The toolkit's functions as clang is told of them.

Templates without bodies: an overload that a program brings along wins, and none is redefined. Calls are
recognised by name.
"""

from __future__ import annotations

from collections.abc import Iterable

from smemlint.toolkit.model import POINTEE, PROMOTED, SAME, SECOND, TEXEL, Function

_FORMS = {
    SAME: "template <class T, class... A> T {0}(T, A...);",
    SECOND: "template <class T, class... A> T {0}(unsigned int, T, A...);",
    POINTEE: (
        "template <class T, class... A> T {0}(T*, A...);"
        " template <class T, class... A> T {0}(const T*, A...);"
        " template <class T, class... A> T {0}(volatile T*, A...);"
    ),
    PROMOTED: (
        "template <class T> auto {0}(T v) -> decltype(T(v));"
        " template <class T, class U> auto {0}(T v, U w) -> decltype(v + w);"
        " template <class T, class U, class V> auto {0}(T v, U w, V x) -> decltype(v + w + x);"
    ),
    TEXEL: (
        "template <class T, class... A> T {0}(unsigned long long, A...);"
        " template <class T, int D, cudaTextureReadMode M, class... A> T {0}(texture<T, D, M>, A...);"
        " template <class... A> void {0}(A...);"
    ),
}
_OTHER = "template <class... A> {1} {0}(A...);"


def declarations(functions: Iterable[Function]) -> str:
    """One line for each function that the table declares."""
    return "".join(
        _FORMS.get(f.result, _OTHER).format(f.name, f.result) + "\n" for f in functions if f.declared
    )


def also_in_std(functions: Iterable[Function]) -> str:
    """The same functions in namespace std."""
    return "namespace std {\n" + "".join(f"using ::{f.name};\n" for f in functions if f.declared) + "}\n"
