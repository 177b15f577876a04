"""The commands of storage that do more than ask: ``hopper stripe`` and ``hopper iobuf``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hopperlib.cli.common import read_source
from hopperlib.cli.question import answer
from hopperlib.errors import InputError, refusal

if TYPE_CHECKING:
    from hopperlib.questions.question import Question

__all__ = ["iobuf", "stripe"]


def stripe(question: Question, values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer; a stripe size alone would say nothing of the advised layout."""
    if "stripe_mib" in values and "stripe_count" not in values:
        raise refusal("stripe_mib", values["stripe_mib"], "needs --stripe-count: the advised layout has its own size")
    answer(question, values, as_json, show_all)


def iobuf(question: Question, values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer for PARAMS, from standard input for ``-``, or for a setting that suits the files."""
    from hopperlib.storage.iobuf.params import suited_rule, write_params

    params, patterns = values.pop("params", None), values.pop("patterns")
    if (params is None) == (not patterns):
        raise InputError("give either PARAMS or --files: one setting to check, or files to write one for")
    if params == "-":
        params = read_source("-", what="IOBUF_PARAMS", as_json=as_json).strip()
    elif params is None:
        reading = values.get("direction") == "read"
        try:
            params = write_params([suited_rule(pattern, reading=reading) for pattern in patterns])
        except ValueError as error:
            raise InputError(str(error), name="--files") from error
    answer(question, {**values, "params": params}, as_json, show_all)
