"""Module versions: order and ranges.

Versions are compared piece by piece, numbers as numbers: 4.10 comes after 4.9, unlike in a comparison of texts or
decimal numbers.
"""

import operator
import re
from functools import lru_cache

# Longest version that is read; longer texts are not versions. [characters]
_LONGEST = 80
_PIECE = re.compile(r"[0-9]{1,80}|[a-z]{1,80}", re.IGNORECASE)
_BOUND = re.compile(r"(>=|<=|==|>|<)([\w.+-]{1,80})", re.ASCII)
_COMPARE = {">=": operator.ge, "<=": operator.le, "==": operator.eq, ">": operator.gt, "<": operator.lt}


@lru_cache(maxsize=1024)
def version_key(version: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key for versions.

    Numbers are compared as numbers, and a suffix sorts before no suffix, so that a release candidate precedes its
    release. Trailing zeros are ignored.

    Parameters
    ----------
    version : str
        Such as ``10.4.5``, ``4.1.5-gcc-11`` or ``2.0rc1``.

    Returns
    -------
    tuple

    Raises
    ------
    ValueError
        If the version has neither a digit nor a letter.

    Examples
    --------
    >>> sorted(["4.10", "4.9", "4.9.1", "4.9rc1"], key=version_key)
    ['4.9rc1', '4.9', '4.9.1', '4.10']
    >>> version_key("4.9") == version_key("4.9.0")
    True
    """
    pieces: list[tuple[int, int, str]] = []
    for piece in [*_PIECE.findall(version[:_LONGEST]), ""]:
        if piece.isdigit():
            pieces.append((2, int(piece), ""))
            continue
        while pieces and pieces[-1] == (2, 0, ""):
            pieces.pop()
        pieces.append((0, 0, piece.lower()) if piece else (1, 0, ""))
    if not _PIECE.search(version):
        raise ValueError(f"version={version!r} must hold a number or a word")
    return tuple(pieces)


def in_range(version: str, bounds: str) -> bool:
    """Whether a version satisfies all bounds.

    Parameters
    ----------
    version : str
    bounds : str
        One or more bounds separated by blanks, such as ``>=10.4.3 <10.4.8``.

    Raises
    ------
    ValueError
        If a bound cannot be read.

    Examples
    --------
    >>> in_range("10.4.5", ">=10.4.3 <10.4.8"), in_range("10.4.10", ">=10.4.3 <10.4.8")
    (True, False)
    """
    key = version_key(version)
    for bound in bounds.split():
        parts = _BOUND.fullmatch(bound)
        if parts is None:
            raise ValueError(f"bound={bound!r} must be one of >= <= == > < and a version, such as >=10.4.3")
        if not _COMPARE[parts[1]](key, version_key(parts[2])):
            return False
    return True
