"""What the five sources print, and what is wrong with it.

``data/documented.csv`` has a row for every number, date and described shape,
as printed; ``data/errata.csv`` has the slips among them, each with a proof in
arithmetic; ``data/checks.csv`` says how the studies answer each. This module
reads all three and says how close a model must come:

=====================  ========================================================
exact, rounded         half a unit of the last printed place, up or down
truncated              up to one unit of the last place above what is printed
at least, range low    not below
at most, range high    not above
about                  no bounds of its own: whoever compares gives a tolerance
shape, date            no number
=====================  ========================================================

Printed numbers are compared as decimals, so that 1.29 means 1.285 to 1.295.
"""

from hopperlib.documented.checks import ROLES, VERDICTS, Check, checks
from hopperlib.documented.data_files import data_folder
from hopperlib.documented.proofs import evaluate_formula, evaluate_proof
from hopperlib.documented.values import DocumentedValue, all_values, by_study, documented, errata, erratum, printed

__all__ = ["ROLES", "VERDICTS", "Check", "checks", "data_folder", "evaluate_formula", "evaluate_proof"]
__all__ += ["DocumentedValue", "all_values", "by_study", "documented", "errata", "erratum", "printed"]
