"""Messages as data: the meaning of a line, who is responsible, and the steps to take.

A rule is one table of a file in ``failure/rules``; a new message needs one table and two sample lines, and no code. A
rule's role defines how far its message can be trusted:

=========  ====================================================================
cause      names what went wrong; `strength` is its certainty
symptom    shows that something went wrong, not what: exit codes, tracebacks
cascade    one task or node reports that another one disappeared
noise      looks like an error but is harmless
info       marks the course of a job, such as its end
=========  ====================================================================

``strong`` causes are complete explanations (a time limit), ``plain`` ones usually are, ``weak`` ones are generic: a
segmentation fault explains little. Effects of a message are links between codes, with windows in lines, seconds and
ranks.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from hopperlib.errors import InputError, did_you_mean
from hopperlib.package_data import load_text_resource, load_toml_resource, resource_names
from hopperlib.schema import TableError, key, read_record, read_records, read_toml

Role = Literal["cause", "symptom", "cascade", "noise", "info"]
Strength = Literal["strong", "plain", "weak"]
Fault = Literal["user", "system", "either"]
# "unclear" if a message does not show who is responsible.
Actor = Literal["user", "staff", "vendor", "unclear"]
# NERSC's names for the classes of failures in its job completion reports.
NerscClass = Literal[
    "APEXIT", "APNOENT", "APRESOURCE", "APWRAP", "CCERUNTIME", "PATHRUNTIME", "MPIABORT", "MPIENV", "MPIFATAL", "MPIIO",
    "PGFIO", "PTLUSER", "SIGSEGV", "SIGTERM", "XBIGOUT", "DISKQUOTA", "OOM", "NIDTERM", "LUSTREIO", "NODEFAIL",
    "PTLSYS", "SHMEMATOMIC", "IDENTERM", "JOBSTART", "JOBPROLOG", "JOBREQUEUE", "JOBCOPY", "JOBWALLTIME", "NOBARRIER",
]  # fmt: skip

# File name of the compiled form that a build adds to the models of the pages.
STAGED = "rules.json"
_RULES = "../rules"

# Keys whose value may be a single text instead of a list.
_LISTS = ("anchors", "digits", "regex", "requires", "advice", "positive", "negative")
_DIGITS = str.maketrans("", "", "0123456789")


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One message explains another.

    Parameters
    ----------
    code : str
        The other rule's code; a trailing ``*`` matches any suffix.
    lines : int or None
        Most lines of one file between them; None for any number.
    seconds : float or None
        Longest time between them, if both have a time. [s]
    rank : {"any", "same", "other"}
        Whether both must come from the same task, or from different ones,
        if both name it.
    """

    code: str
    lines: int | None = key(None, low=0)
    seconds: float | None = key(None, low=0)
    rank: Literal["any", "same", "other"] = "any"

    def names(self, code: str) -> bool:
        """Whether the link names a code.

        Parameters
        ----------
        code : str
            Code of a rule.
        """
        return code.startswith(self.code[:-1]) if self.code.endswith("*") else code == self.code


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One message: its text and its meaning.

    Parameters
    ----------
    code : str
        Stable name, such as ``ALPS-OOM``.
    title : str
        The meaning, in plain words.
    fault : {"user", "system", "either"}
        Whose fault it is; ``class`` in the file.
    nersc_class : str or None
        The class in NERSC's job completion reports, if there is one.
    role, strength : str
        How far the message can be trusted (see the module).
    anchors : tuple of str
        Pieces of text, one of which must occur in the line, ignoring case. They begin and end with whole words; digits
        in them count only as described for `digits`.
    digits : tuple of str
        Pieces of text with digits. The scanner treats lines that differ only in digits as the same, unless one contains
        such a piece, or an anchor with digits.
    regex : tuple of str
        Regular expressions, one of which must match the line. Their named groups become the fields of a finding. Every
        quantifier is bounded.
    explains, explained_by : tuple of Link
        Messages that it explains, or that explain it. In all links ``@name`` stands for the codes of a group of
        ``groups.toml``.
    refutes : tuple of Link
        Messages that cannot be the cause if this one is present: a job that reached its time limit had started.
    requires : tuple of str
        Codes, at least one of which must be found for this message to count; ``@failure`` is any sign of failure.
        Otherwise it is treated as noise.
    begins : bool
        Whether a run begins with it: a file may contain several runs.
    success : bool
        Whether the message reports that the work was done.
    says_fatal : bool or None
        Whether the program that prints it has ended; ``fatal`` in the file.
    general : bool
        Whether it is tried after all others of the same role and strength.
    signals : tuple of int
        Signals of this message, whichever program prints their numbers.
    does_not_imply : str
        A common wrong conclusion that it does not support: "that ...".
    ran_out_of : {"memory", "nodes", "time"} or None
        The resource that the job lacked, for details from launch line and record.
    who : {"user", "staff", "vendor", "unclear"}
        Who acts.
    confirm : str
        How to confirm it; required for causes.
    advice : tuple of str
        Steps to take; required for messages that end a run.
    source : str
        Where the message is printed or documented.
    positive, negative : tuple of str
        Lines that the rule must match, and lines with one of its anchors that it must not match.
    sample : {"quoted", "composed"}
        Whether the positive lines are quoted from `source`, with other names and numbers, or were composed in the same
        form.
    """

    code: str = key(pattern="[A-Z0-9]+(?:-[A-Z0-9]+)*", form="upper-case words joined by -")
    title: str
    fault: Fault = key("user", name="class")
    nersc_class: NerscClass | None = None
    role: Role = "cause"
    strength: Strength = "plain"
    anchors: tuple[str, ...] = key(single=True)
    digits: tuple[str, ...] = key((), single=True)
    regex: tuple[str, ...] = key(single=True)
    explains: tuple[Link, ...] = key((), short=True)
    explained_by: tuple[Link, ...] = key((), short=True)
    refutes: tuple[Link, ...] = key((), short=True)
    requires: tuple[str, ...] = key((), single=True)
    begins: bool = False
    success: bool = False
    says_fatal: bool | None = key(None, name="fatal")
    general: bool = False
    signals: tuple[int, ...] = ()
    does_not_imply: str = ""
    ran_out_of: Literal["memory", "nodes", "time"] | None = None
    who: Actor = "user"
    confirm: str = ""
    advice: tuple[str, ...] = key((), single=True)
    source: str
    sample: Literal["quoted", "composed"] = "quoted"
    positive: tuple[str, ...] = key(single=True)
    negative: tuple[str, ...] = key((), single=True)

    def __hash__(self) -> int:
        # The code identifies the rule; hashing all fields at every lookup would be slow.
        return hash(self.code)

    @property
    def fatal(self) -> bool:
        """Whether the program that prints it has ended: true for symptoms, cascades and strong causes, unless the file
        overrides it.
        """
        if self.says_fatal is not None:
            return self.says_fatal
        return self.role in ("symptom", "cascade") or self.strength == "strong"

    @property
    def shows_failure(self) -> bool:
        """Whether it shows a permanent failure."""
        return self.fatal and self.role in ("cause", "symptom", "cascade")

    @property
    def keys(self) -> tuple[bytes, ...]:
        """The anchors as the scanner searches for them: lower case, without digits."""
        return tuple(anchor.lower().translate(_DIGITS).encode() for anchor in self.anchors)

    @property
    def digit_keys(self) -> tuple[bytes, ...]:
        """Pieces of text that make the digits of a line matter, in lower case."""
        return tuple(text.lower().encode() for text in self.anchors + self.digits if re.search(r"\d", text))

    @property
    def precedence(self) -> int:
        """Position in the order in which rules are tried on a line, from 0.

        Noise comes first, because its rules match lines that resemble other messages; then the more specific a message,
        the earlier.
        """
        if self.role == "cause":
            return 1 + get_args(Strength).index(self.strength)
        return {"noise": 0, "cascade": 4, "symptom": 5, "info": 6}[self.role]


def rules_of(documents: Iterable[Mapping[str, Any]]) -> tuple[Rule, ...]:
    """Return the rules of parsed files, in the order in which they are tried on a line; their links are not checked.

    Parameters
    ----------
    documents : Iterable[Mapping[str, Any]]
        Outputs of the TOML parser.

    Examples
    --------
    >>> rules_of([])
    ()
    """
    return _in_order(_tables(documents))


def _in_order(tables: list[dict[str, Any]]) -> tuple[Rule, ...]:
    """Read rules, in the order in which they are tried on a line."""
    rules = read_records(Rule, {"rule": tables}, "rule", name="")
    return tuple(sorted(rules, key=lambda made: (made.precedence, made.general)))


def read_rules(texts: Iterable[str]) -> tuple[Rule, ...]:
    """Read rules from TOML texts and check them, in the order in which they are tried on a line.

    Parameters
    ----------
    texts : iterable of str
        TOML, each with ``[[rule]]`` tables.

    Returns
    -------
    tuple of Rule

    Raises
    ------
    TableError
        If a rule is invalid, two rules share a code, or a link names no rule; `problems` lists all errors.

    Examples
    --------
    >>> read_rules(['[[rule]]' + chr(10) + 'code = "no good"'])
    Traceback (most recent call last):
    hopperlib.schema.reading.TableError: rule[0].code = 'no good': must be upper-case words joined by - (and 5 more)
    """
    rules = rules_of(_documents(texts))
    problems = [f"rule.{made.code}.{problem}" for made in rules for problem in _broken_rules(made, rules)]
    if problems:
        raise TableError(tuple(problems))
    return rules


def _broken_rules(made: Rule, rules: Iterable[Rule]) -> Iterator[str]:
    """Yield problems of a rule whose values all have valid types."""
    for anchor in made.anchors:
        if not re.search(r"[A-Za-z]{3}", anchor.translate(_DIGITS)):
            yield f"anchors: {anchor!r} must hold a word of at least 3 letters"
    for text in made.regex:
        yield from _broken_regex(text, [*made.anchors, *made.digits])
    codes = [link.code for name in ("explains", "explained_by", "refutes") for link in getattr(made, name)]
    for code in [*codes, *(code for code in made.requires if code != "@failure")]:
        if not any(Link(code=code).names(other.code) for other in rules):
            yield f"code: {code!r} in its links names no rule{did_you_mean(code, [other.code for other in rules])}"


def _broken_regex(text: str, pieces: list[str]) -> Iterator[str]:
    """Yield problems of an expression: it cannot be compiled, or a quantifier has no upper bound.

    With bounds, matching time is at most linear in the length of a line. Digits in an expression must also occur in a
    piece of text, because the scanner treats lines that differ only in digits as equal.
    """
    try:
        re.compile(text.encode())
    except re.error as error:
        yield f"regex = {text!r}: cannot be compiled: {error}"
    without_classes = re.sub(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", "x", text)
    if re.search(r"[*+]|\{\d+,\}", without_classes):
        yield f"regex = {text!r}: holds *, + or {{n,}}; every quantifier needs an upper bound, such as {{1,80}}"
    without_bounds = re.sub(r"\{\d+(?:,\d+)?\}|\d-\d", "", text)
    if re.search(r"\d", without_bounds) and not any(re.search(r"\d", piece) for piece in pieces):
        yield f"regex = {text!r}: matches specific digits, so an anchor or `digits` must contain them; otherwise write \\d"


def _tables(documents: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the tables of files, which may contain only rules."""
    tables: list[dict[str, Any]] = []
    for document in documents:
        if unknown := [f"{name}: is not a key{did_you_mean(name, ('rule',))}" for name in document if name != "rule"]:
            raise TableError(tuple(unknown))
        tables += [_with_groups(table) for table in document.get("rule", [])]
    return tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """Codes that several rules name together (``groups.toml``)."""

    not_started: tuple[str, ...]
    may_hang: tuple[str, ...]


@cache
def _groups() -> dict[str, tuple[str, ...]]:
    """Return the codes of each group of messages, by the name that links use."""
    groups = read_record(Groups, load_toml_resource(__file__, "groups.toml"), name="groups.toml")
    return {f"@{name}": codes for name, codes in asdict(groups).items()}


def _with_groups(table: dict[str, Any]) -> dict[str, Any]:
    """Return the table of a rule with each group name in a link replaced by the codes of the group."""
    spelled_out: dict[str, Any] = {}
    for name in ("explains", "explained_by", "refutes"):
        links: Any = table.get(name)
        if isinstance(links, list) and any(isinstance(link, str) and link in _groups() for link in links):
            named = [link for link in links if isinstance(link, str) and link in _groups()]
            rest = [link for link in links if link not in named]
            spelled_out[name] = [*(code for link in named for code in _groups()[link]), *rest]
    return table | spelled_out


def _documents(texts: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the tables of TOML texts."""
    return (read_toml(text, name="rules") for text in texts)


def rule_texts() -> list[str]:
    """Return the TOML texts of the rules that come with the library, and of the file that ``HOPPER_RULES`` names.

    Raises
    ------
    InputError
        If the file that ``HOPPER_RULES`` names cannot be read.

    Examples
    --------
    >>> len(read_rules(rule_texts())) == len(load_rules())
    True
    """
    own = os.environ.get("HOPPER_RULES")
    try:
        # The user's file comes first, so that errors of its first rule are reported for rule[0].
        texts = [Path(own).read_text(encoding="utf-8")] if own else []
    except (OSError, ValueError) as error:
        raise InputError(f"HOPPER_RULES={own}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    names = [name for name in resource_names(__file__, _RULES) if name.endswith(".toml")]
    return texts + [load_text_resource(__file__, f"{_RULES}/{name}") for name in names]


def staged_rules() -> str:
    """Return the library's rules as JSON, which a page reads in a twentieth of the time.

    Examples
    --------
    >>> staged_rules().startswith('[{"code":')
    True
    """
    return json.dumps(_tables(_documents(rule_texts())), separators=(",", ":"))


def _made(table: Mapping[str, Any]) -> Rule:
    """Return a rule of the library without validation, which the tests do."""
    values = {{"class": "fault", "fatal": "says_fatal"}.get(name, name): value for name, value in table.items()}
    for name, value in values.items():
        if name in ("explains", "explained_by", "refutes"):
            links = [value] if isinstance(value, (str, dict)) else value
            values[name] = tuple(Link(code=link) if isinstance(link, str) else Link(**link) for link in links)
        elif isinstance(value, list) or name in _LISTS:
            values[name] = (value,) if isinstance(value, str) else tuple(value)
    return Rule(**values)


@cache
def load_rules() -> tuple[Rule, ...]:
    """Return the rules of the library and of ``HOPPER_RULES``, in the order in which they are tried.

    Expressions and links are not checked here, which would take longer than a diagnosis: tests check those of the
    library with `read_rules`, which also checks those of ``HOPPER_RULES``.

    Returns
    -------
    tuple of Rule

    Raises
    ------
    InputError
        If the file of ``HOPPER_RULES`` is invalid: the message names the file and the error.

    Examples
    --------
    >>> len(load_rules()) > 100
    True
    """
    if own := os.environ.get("HOPPER_RULES"):
        texts = rule_texts()
        try:
            return read_rules(texts)
        except TableError as error:
            raise InputError(f"HOPPER_RULES={own}: {error}") from None
    files = resource_names(__file__, _RULES)
    if STAGED in files:
        tables = json.loads(load_text_resource(__file__, f"{_RULES}/{STAGED}"))
    else:
        tables = _tables(load_toml_resource(__file__, f"{_RULES}/{name}") for name in files if name.endswith(".toml"))
    try:
        return tuple(sorted(map(_made, tables), key=lambda made: (made.precedence, made.general)))
    except TypeError:
        # A key is misspelled or missing: the checks name the rule and the closest key.
        rules_of([{"rule": tables}])
        raise


@cache
def _by_code() -> dict[str, Rule]:
    return {made.code: made for made in load_rules()}


def rule(code: str) -> Rule:
    """Return a rule by its code.

    Parameters
    ----------
    code : str
        Code of the rule.

    Raises
    ------
    ValueError
        If there is no such rule.

    Examples
    --------
    >>> rule("ALPS-OOM").nersc_class
    'OOM'
    >>> rule("alps-oom").code
    'ALPS-OOM'
    """
    if made := _by_code().get(code.upper()):
        return made
    raise InputError(f"there is no rule {code!r}; `hopper diagnose --list` prints all codes", name="code", value=code)
