"""Self-checks: questions that a page marks at once, with answers that the model gives.

=============  ================================================================
`NumberCheck`  a number with its unit, right within a tolerance
`ChoiceCheck`  one or several of a few options, each with its own feedback
`CurveCheck`   a curve to draw, right if it is close to the model's
`CodeCheck`    a few lines of Python to write or mend, right if their values are the model's
`GoalCheck`    a setting of an explorer to find, by what its answer then says
=============  ================================================================

The page passes the expected answer, computed from the model, so that it follows the model. `Check.to_dict` holds all
that marking needs as ranges, lists of numbers and comparisons: the published page marks in JavaScript what
`Check.grade` marks here. Anyone can find the answers in the page's source, which is fine: this is training, not an
exam.

All texts are plain; text between backticks is shown as code. A check's name is the key under which a reader's result is
kept, so it never changes.
"""

from hopperbook.self_checks.check import MIME_TYPE, Check, ChoiceCheck, Option, Verdict
from hopperbook.self_checks.code import CodeCheck
from hopperbook.self_checks.curve import CurveCheck
from hopperbook.self_checks.goal import Condition, GoalCheck
from hopperbook.self_checks.notebook import show_check
from hopperbook.self_checks.number import NumberCheck
from hopperkit.render.widgets import display_formatter, show_by

__all__ = [
    "MIME_TYPE",
    "Check",
    "ChoiceCheck",
    "CodeCheck",
    "Condition",
    "CurveCheck",
    "GoalCheck",
    "NumberCheck",
    "Option",
    "Verdict",
]

if formatter := display_formatter():
    show_by(formatter, Check, show_check)
