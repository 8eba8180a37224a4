"""One access of one kernel under one launch, as it is shown."""

from __future__ import annotations

from smemlint.evaluate.model import SharedArray, Unresolved
from smemlint.records import record
from smemlint.score.model import Conflict, KernelAnalysis
from smemlint.view.bankmap import BankMap
from smemlint.view.requests import Requests, map_of, pick, requests_of


@record(frozen=True, slots=True)
class ArrayView:
    """The array of an access. dims: elements, outermost first, None: unknown; element: bytes of one."""

    name: str
    type: str
    dims: tuple[int | None, ...]
    element: int
    bytes: int | None
    dynamic: bool

    @property
    def declared(self) -> str:
        """As it is declared: `float tile[32][33]`."""
        extents = "".join(f"[{'' if d is None else d}]" for d in self.dims)
        return f"{self.type} {self.name}{extents}"

    @property
    def pitch(self) -> int | None:
        """Bytes from one row of the innermost dimension to the next, None where there are no rows."""
        last = self.dims[-1] if len(self.dims) > 1 else None
        return None if last is None or not self.element else last * self.element


@record(frozen=True, slots=True)
class LaunchView:
    """What starts the kernel. kernel: with its template arguments; assumed: nothing says that it does."""

    kernel: str
    block: tuple[int, int, int]
    origin: str
    assumed: bool


@record(frozen=True, slots=True)
class SiteCost:
    """What an access costs in one block; None where there is no number. requests: of warps."""

    requests: int
    wavefronts: int | None
    wavefronts_low: int | None
    ideal: int | None

    @property
    def ways(self) -> float | None:
        """wavefronts / ideal, the upper end."""
        if self.wavefronts is None or self.ideal is None:
            return None
        return self.wavefronts / self.ideal if self.ideal else 1.0


@record(frozen=True, slots=True)
class SiteView:
    """What is known of one access under one launch, with the map of one of its requests.

    width: bytes a lane of the access that runs; written: as it stands in
    the source. visits: how often a warp comes by, at most; by_visit: ways of each, run-length coded. warps:
    numbers of the warps that make a request. map: None where there is none, for the reason `no_map`. rotated:
    banks count from an unknown start. others: ways of the same access in other instances and launches.
    """

    path: str
    line: int
    column: int
    expression: str
    op: str
    width: int
    written: int
    launch: LaunchView
    array: ArrayView | None
    grade: str
    reason: str
    cost: SiteCost
    visits: int
    by_visit: tuple[tuple[float, int], ...]
    warps: tuple[int, ...]
    map: BankMap | None
    no_map: str
    rotated: bool = False
    parameter: str = ""
    others: tuple[str, ...] = ()


def kernel_name(analysis: KernelAnalysis) -> str:
    """`name<T = float>`."""
    arguments = ", ".join(f"{n} = {v}" for n, v in analysis.template_arguments.items())
    return f"{analysis.kernel.name}<{arguments}>" if arguments else analysis.kernel.name


def array_view(array: SharedArray) -> ArrayView:
    return ArrayView(
        array.name, array.type.split("[", 1)[0].strip(), array.dims, array.element, array.bytes, array.dynamic
    )


def leader_of(conflict: Conflict, analysis: KernelAnalysis) -> Conflict:
    """The site that carries the addresses of an access that the compiler joins with its neighbours."""
    trace = conflict.trace
    if trace.group is None or len(trace.offsets):
        return conflict
    group = (c for c in analysis.conflicts if c.trace.group == trace.group and len(c.trace.offsets))
    return next(group, conflict)


def site_view(
    conflict: Conflict,
    analysis: KernelAnalysis,
    path: str,
    *,
    warp: int | None = None,
    visit: int | None = None,
    others: tuple[str, ...] = (),
) -> SiteView:
    """An access and one of its requests: of the warp and visit asked for, else the one with the most ways.

    path: how the file is named for the user. Raises: NoRequestError.
    """
    found = requests_of(leader_of(conflict, analysis).trace)
    bank_map, no_map = _map(found, warp, visit)
    array = analysis.arrays.get(conflict.site.array)
    site, launch, trace = conflict.site, analysis.launch, conflict.trace
    known = None if isinstance(found, Unresolved) else found
    warps = known.warps[known.executed()].tolist() if known is not None and known.warps is not None else []
    return SiteView(
        path=path,
        line=site.place.line,
        column=site.place.column,
        expression=site.expression,
        op=site.op,
        width=conflict.joined or site.width,
        written=site.width,
        launch=LaunchView(kernel_name(analysis), launch.block, launch.origin, launch.assumed),
        array=array_view(array) if array is not None else None,
        grade=conflict.grade.value,
        reason=conflict.reason.text if conflict.reason is not None else "",
        cost=SiteCost(conflict.executions, conflict.wavefronts, conflict.wavefronts_low, conflict.ideal),
        visits=known.visits if known is not None else 0,
        by_visit=conflict.ways_by_visit,
        warps=tuple(sorted(set(warps))),
        map=bank_map,
        no_map=no_map,
        rotated=known is not None and known.rotated,
        parameter=trace.parameter.name if trace.parameter is not None else "",
        others=others,
    )


def _map(found: Requests | Unresolved, warp: int | None, visit: int | None) -> tuple[BankMap | None, str]:
    if isinstance(found, Unresolved):
        return None, found.text
    at = pick(found, warp, visit)
    if at is None:
        return None, "no warp executes it under this launch"
    if not found.drawn:
        return (
            None,
            f"each lane's address depends on data: {int(found.low[at])} to {int(found.high[at])} wavefronts",
        )
    return map_of(found, at), ""
