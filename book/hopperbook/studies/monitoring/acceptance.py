"""Bassi's acceptance: six rates per task, the commitments, and the users' observations.

Documented: the rates, their commitments and ratios to Seaborg, users' reports, availability. The sums are ours: no
geometric mean and no system value is printed, and the count of processors is not printed either.
"""

from hopperbook.documented import by_study, documented, printed
from hopperbook.studies.study import Study
from hopperlib.monitoring.ssp import Rate, Suite

CODES = {"ft": "NPB FT", "mg": "NPB MG", "sp": "NPB SP", "cam": "CAM", "gtc": "GTC", "paratec": "PARATEC"}


def suite() -> Suite:
    """Return the suite as printed: Mflop/s a task, and Seaborg's rates as the ratios imply them.

    Examples
    --------
    >>> round(suite().committed, 1), round(suite().ssp, 1), round(suite().reference, 1)
    (844.5, 1039.9, 150.7)
    """
    rates = []
    for code, name in CODES.items():
        current = printed(f"acceptance.ssp-{code}-current")
        seaborg = current / printed(f"acceptance.ssp-{code}-seaborg")
        rates.append(
            Rate(name=name, rate=current, commitment=printed(f"acceptance.ssp-{code}-commitment"), reference=seaborg)
        )
    return Suite(rates=tuple(rates))


def delivered() -> dict[str, float | None]:
    """Return the rates at delivery by code, with errors of the scan corrected; None where the print cannot be read.

    Examples
    --------
    >>> delivered()["NPB MG"], delivered()["PARATEC"]
    (889.0, None)
    """
    return {name: documented(f"acceptance.ssp-{code}-delivered").adopted_number for code, name in CODES.items()}


def users() -> dict[str, float]:
    """Return the speed-ups that users reported over Seaborg; of a range the middle.

    Examples
    --------
    >>> len(users()), min(users().values()), max(users().values())
    (15, 3.37, 11.0)
    """
    reports = {
        value.id.partition("user-")[2]: printed(value.id)
        for value in by_study("acceptance")
        if value.quantity.startswith("user report,")
    }
    return reports | {"chen-hawke": (reports.pop("chen-hawke-low") + reports.pop("chen-hawke-high")) / 2}


STUDY = Study("acceptance", dict, sums=lambda: {"ssp-codes": len(CODES)})
