"""Options of an mpirun of Open MPI as 4.1 and 5.0 take them: what ranks are mapped to, numbered by and bound to.

The two releases spell options differently and refuse different ones; from here on both have the same request.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hopperkit.launchers.option_values import whole_number
from hopperlib.placement.components import LaunchError

_UNITS = {
    **{name: name for name in ("slot", "hwthread", "core", "numa", "socket", "node")},
    **{f"l{level}cache": f"l{level}" for level in (1, 2, 3)},
}
_UNITS_5 = {**_UNITS, "package": "socket"}
# Options of older releases, and the equivalent directive or modifier of --map-by.
_DIRECTIVES = {"-bynode": "node", "-bycore": "core", "-byslot": "slot", "-pernode": "ppr:1:node"}
_PATTERNS = {"-npernode": "node", "-npersocket": "socket"}
_UNKNOWN = {4: ("-bysocket", "-bind-to-none"), 5: ("-bysocket", "-bind-to-socket", "-bind-to-none")}
# Longest list of CPUs that is read, in characters.
_LONGEST_LIST = 20_000


class CannotTellError(Exception):
    """A launcher's behavior for a line is unknown; the text explains why."""


class OpenMpiRequest(NamedTuple):
    """Request of a line to Open MPI.

    Parameters
    ----------
    unit : str
        Unit that ranks are mapped by: ``slot``, ``node``, ``list`` or a unit of the node; empty if not given.
    per_unit : int or None
        Ranks on each unit: ``ppr``.
    width : int
        CPUs of a rank.
    width_given : bool
        Whether the line sets it, even to 1.
    rank, rank_fill : str, bool
        How ranks are numbered: a unit, ``slot``, ``node``, ``fill`` or ``span``; and the modifier ``fill`` of 4.1.
    bind : str
        Binding target of ranks; empty if not given.
    overload, oversubscribe, hwthreads, span, ordered : bool
        The qualifiers and modifiers of these names.
    only_modifiers : bool
        Whether ``--map-by`` contains nothing else.
    cpu_list : str
        CPUs that the line lists.
    """

    unit: str = ""
    per_unit: int | None = None
    width: int = 1
    width_given: bool = False
    rank: str = ""
    rank_fill: bool = False
    bind: str = ""
    overload: bool = False
    oversubscribe: bool = False
    hwthreads: bool = False
    span: bool = False
    ordered: bool = False
    only_modifiers: bool = False
    cpu_list: str = ""

    def with_threads_for_cores(self) -> "OpenMpiRequest":
        """Return the request with hardware threads in place of cores, which is how 5.0 reads it without a second thread."""
        unit, bind = ("hwthread" if name == "core" else name for name in (self.unit, self.bind))
        return self._replace(unit=unit, bind=bind)


def number_pieces(piece: str) -> tuple[int, int]:
    """Return the first and the last number of ``4`` or ``4-7``.

    Parameters
    ----------
    piece : str
        Text between separators.

    Examples
    --------
    >>> number_pieces("4-7"), number_pieces("4")
    ((4, 7), (4, 4))
    """
    low, _, high = piece.partition("-")
    return int(low), int(high or low)


def read_openmpi(options: Sequence[tuple[str, str]], release: int) -> OpenMpiRequest:
    """Return the request of a line's options as a release reads them.

    Parameters
    ----------
    options : sequence of (str, str)
        Names with one dash, and values.
    release : int
        4 or 5.

    Raises
    ------
    LaunchError
        For options that this release refuses.
    CannotTellError
        For those whose effect is not known.

    Examples
    --------
    >>> read_openmpi([("-map-by", "ppr:2:socket:PE=4")], 5)[:4]
    ('socket', 2, 4, True)
    """
    values = dict(options)
    if unknown := next((name for name in _UNKNOWN[release] if name in values), None):
        raise LaunchError(f"-{unknown}", "", f"is an option that Open MPI {release} does not have")
    repeated = [name for name, _ in options]
    for name in ("-map-by", "-bind-to", "-rank-by"):
        if repeated.count(name) > 1:
            raise LaunchError(f"-{name}", values[name], "is given twice, and Open MPI accepts one")
    return _read_5(values) if release >= 5 else _read_4(values)


def _common(values: Mapping[str, str]) -> OpenMpiRequest:
    """Return the request of the flags that both releases have."""
    return OpenMpiRequest(
        oversubscribe="-oversubscribe" in values,
        hwthreads="-use-hwthread-cpus" in values,
    )


def _directives(values: Mapping[str, str]) -> list[str]:
    """Return the ``--map-by`` equivalents of older options."""
    found = [directive for name, directive in _DIRECTIVES.items() if name in values]
    return found + [f"ppr:{values[name]}:{unit}" for name, unit in _PATTERNS.items() if name in values]


def _read_5(values: Mapping[str, str]) -> OpenMpiRequest:
    """Return the request of 5.0, which turns every older option into a part of ``--map-by``."""
    mapping = values.get("-map-by", "")
    directives = _directives(values) + [f"pe-list={values['-cpu-set']}" for _ in range("-cpu-set" in values)]
    for directive in directives:
        if mapping and not mapping.startswith(":"):
            raise LaunchError("--map-by", mapping, f"and {directive} both set the mapping, and Open MPI 5 accepts one")
        mapping = directive + mapping
    if "-cpus-per-proc" in values:
        mapping += f":pe={values['-cpus-per-proc']}"
    request = _bound_5(values, mapping)
    return _ranked_5(request, values)


def _bound_5(values: Mapping[str, str], mapping: str) -> OpenMpiRequest:
    """Return the request with the mapping and the binding of 5.0."""
    bind = values.get("-bind-to", "core" if "-bind-to-core" in values else "")
    if bind and "pe" in mapping.lower() and not re.search("core|hwt", bind.lower()):
        raise LaunchError(
            "--bind-to", bind, "is incompatible with PE= of --map-by: Open MPI 5 takes core or hwthread there"
        )
    request, modifiers = _mapping_5(_common(values), mapping)
    for modifier in modifiers:
        request = _modified_5(request, mapping, modifier)
    if request.unit == "hwthread" and not request.per_unit:
        request = request._replace(hwthreads=True)
    if bind:
        word, *qualifiers = bind.split(":")
        overload = any(qualifier.lower().startswith("overload") for qualifier in qualifiers)
        request = request._replace(bind=_bound_unit(word, _UNITS_5), overload=overload)
    return request


def _ranked_5(request: OpenMpiRequest, values: Mapping[str, str]) -> OpenMpiRequest:
    """Return the request with the order of ranks of 5.0."""
    if not (ranking := values.get("-rank-by", "")):
        return request
    orders = {name: name for name in ("slot", "node", "fill", "span")}
    if (order := _matching(ranking, orders)) is None:
        raise LaunchError("--rank-by", ranking, f"is not an order of Open MPI 5: {', '.join(orders)}")
    return request._replace(rank=order)


def _mapping_5(request: OpenMpiRequest, mapping: str) -> tuple[OpenMpiRequest, list[str]]:
    """Return the request with what ``--map-by`` maps by, and its modifiers."""
    word, *modifiers = mapping.split(":")
    if not mapping:
        return request, []
    if word.lower() == "ppr":
        if len(modifiers) < 2:
            raise LaunchError("--map-by", mapping, "must be ppr:N:unit")
        each, typed, *modifiers = modifiers
        return _pattern(request, each, typed, _UNITS_5), modifiers
    if word.lower().startswith("pe-list="):
        return request._replace(unit="list", cpu_list=_cpu_list(word[8:])), modifiers
    if not word:
        return request._replace(only_modifiers=True), modifiers
    return request._replace(unit=_mapped_unit(word, _UNITS_5, _matching(word, _UNITS_5))), modifiers


def _modified_5(request: OpenMpiRequest, mapping: str, modifier: str) -> OpenMpiRequest:
    """Return the request with a modifier of 5.0."""
    word = modifier.lower()
    flags: dict[str, dict[str, Any]] = {
        "span": {"span": True},
        "oversubscribe": {"oversubscribe": True},
        "hwtcpus": {"hwthreads": True},
        "ordered": {"ordered": True},
    }
    if word.startswith("pe="):
        return request._replace(width=whole_number("--map-by", modifier[3:]), width_given=True)
    if word in flags:
        return request._replace(**flags[word])
    if word in ("nooversubscribe", "corecpus", "nolocal", "inherit", "noinherit"):
        return request
    raise LaunchError("--map-by", mapping, f"has the modifier {modifier}, which Open MPI 5 does not support")


def _read_4(values: Mapping[str, str]) -> OpenMpiRequest:
    """Return the request of 4.1, in which ``--map-by`` wins over older options."""
    if "-cpu-set" in values:
        raise CannotTellError("How Open MPI 4.1 deals ranks out over --cpu-set or --cpu-list could not be checked.")
    request = _common(values)
    mapping = values.get("-map-by", "") or _parameter(values, "rmaps_base_mapping_policy")
    # With --map-by, ranks per node or per socket only limit the ranks of a node.
    per_place = any(name in values for name in (*_PATTERNS, "-pernode"))
    if "-cpus-per-proc" in values:
        width = whole_number("--cpus-per-proc", values["-cpus-per-proc"])
        request = request._replace(width=width, width_given=True)
    patterns = [directive for directive in _directives(values) if directive.startswith("ppr") == per_place]
    request = _mapping_4(request, mapping or next(iter(patterns), ""))
    older = next((name[9:] for name in ("-bind-to-core", "-bind-to-socket") if name in values), "")
    typed = values.get("-bind-to", "") or _parameter(values, "hwloc_base_binding_policy")
    word, _, qualifiers = (typed or older).partition(":")
    if word:
        overload = "overload" in qualifiers if typed else request.oversubscribe and "-oversubscribe" in values
        request = request._replace(bind=_bound_unit(word, _UNITS, exact=True), overload=overload)
    elif "-oversubscribe" in values:
        request = request._replace(overload=True)
    return _ranked_4(request, values)


def _ranked_4(request: OpenMpiRequest, values: Mapping[str, str]) -> OpenMpiRequest:
    """Return the request with the order of ranks of 4.1."""
    if not (ranking := values.get("-rank-by", "")):
        return request
    word, _, modifier = ranking.partition(":")
    if (unit := _abbreviated(word, _UNITS)) is None:
        raise LaunchError("--rank-by", ranking, f"is not a unit of Open MPI 4.1: {', '.join(_UNITS)}")
    return request._replace(rank=unit, rank_fill=modifier == "fill")


def _mapping_4(request: OpenMpiRequest, mapping: str) -> OpenMpiRequest:
    """Return the request with 4.1's ``--map-by``; after ppr, unknown modifiers are ignored."""
    if not mapping:
        return request
    word, _, rest = mapping.partition(":")
    strict = word.lower() != "ppr"
    if not strict:
        each, _, rest = rest.partition(":")
        typed, _, rest = rest.partition(":")
        request = _pattern(request, each, typed, _UNITS)
    elif not word:
        request = request._replace(only_modifiers=True)
    else:
        request = request._replace(unit=_mapped_unit(word, _UNITS, _abbreviated(word, _UNITS)))
    for modifier in filter(None, rest.split(",")):
        name = modifier.lower()
        if width := re.match(r"pe=(\d*)", name):
            request = request._replace(width=whole_number("--map-by", width[1] or name[3:]), width_given=True)
        elif "span".startswith(name):
            request = request._replace(span=True)
        elif "oversubscribe".startswith(name):
            request = request._replace(oversubscribe=True)
        elif strict and not "nooversubscribe".startswith(name):
            raise LaunchError("--map-by", mapping, f"has the modifier {modifier}, which Open MPI 4.1 does not support")
    return request


def _parameter(values: Mapping[str, str], name: str) -> str:
    """Return an MCA parameter of the line."""
    parameters = dict(value.split("=", 1) for value in values.get("-mca", "").split("\n") if "=" in value)
    return parameters.get(name, "")


def _pattern(request: OpenMpiRequest, each: str, typed: str, units: Mapping[str, str]) -> OpenMpiRequest:
    """Return the request of ``ppr:N:unit``; units may be abbreviated."""
    more = {**units, "skt": "socket", "thread": "hwthread"}
    unit = _abbreviated(typed, {name: unit for name, unit in more.items() if name != "slot"})
    if unit is None:
        raise LaunchError("--map-by", f"ppr:{each}:{typed}", f"names no unit of ppr; there are {', '.join(more)}")
    return request._replace(unit=unit, per_unit=whole_number("--map-by", each))


def _mapped_unit(word: str, units: Mapping[str, str], unit: str | None) -> str:
    """Return the unit that ranks are mapped by; other words are refused."""
    if unit is None:
        raise LaunchError("--map-by", word, f"is not a unit of Open MPI; there are {', '.join(units)}")
    return unit


def _bound_unit(word: str, units: Mapping[str, str], *, exact: bool = False) -> str:
    """Return the unit that ranks are bound to, or ``none``."""
    known = {"none": "none", **{name: unit for name, unit in units.items() if name not in ("slot", "node")}}
    if exact:
        known |= {"board": "none"}
    unit = known.get(word.lower()) if exact and not word.lower().startswith("none") else _matching(word, known)
    if unit is None:
        raise LaunchError("--bind-to", word, f"is not a unit of Open MPI; there are {', '.join(known)}")
    return unit


def _matching(word: str, names: Mapping[str, str]) -> str | None:
    """Return the match of a word that is a prefix of a name, or has a name as prefix: the comparison of 5.0."""
    typed = word.lower()
    return next(
        (unit for name, unit in names.items() if typed and (name.startswith(typed) or typed.startswith(name))), None
    )


def _abbreviated(word: str, names: Mapping[str, str]) -> str | None:
    """Return the match of a word that is a prefix of a name: the comparison of 4.1."""
    return next((unit for name, unit in names.items() if word and name.startswith(word.lower())), None)


def _cpu_list(text: str) -> str:
    """Return a list of CPUs, checked."""
    if len(text) > _LONGEST_LIST or not re.fullmatch(r"\d{1,6}(-\d{1,6})?(,\d{1,6}(-\d{1,6})?)*", text):
        raise LaunchError("--cpu-set", text[:40], "must be a list of CPUs such as 0,2,4-7")
    return text
