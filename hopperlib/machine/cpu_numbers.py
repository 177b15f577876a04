"""Numbers that Linux gives to hardware threads, where they follow no simple rule.

The file of a node with interleaved numbers, or with offline CPUs, lists them: first those of the first hardware thread
of each core, in the order of the cores, then those of the second. ``0-62:2,1-63:2`` are the even numbers, then the odd
ones.
"""

from functools import cache

from hopperlib.errors import InputError

# More CPUs than any node has.
_MOST = 100_000


@cache
def expanded(lists: tuple[str, ...]) -> tuple[tuple[int, ...], ...]:
    """Return the CPUs in some lists, one tuple for each hardware thread of a core.

    Parameters
    ----------
    lists : tuple of str
        Lists of CPU numbers, as in a machine file.

    Raises
    ------
    InputError
        If a list names more CPUs than any node has.

    Examples
    --------
    >>> expanded(("0-6:2,1-7:2",))
    ((0, 2, 4, 6, 1, 3, 5, 7),)
    """
    found = []
    for text in lists:
        numbers: list[int] = []
        for part in text.split(","):
            ends, _, step = part.partition(":")
            low, _, high = ends.partition("-")
            numbers += range(int(low), min(int(high or low), int(low) + _MOST) + 1, max(1, int(step or 1)))
            if len(numbers) > _MOST:
                raise InputError(f"cpu_numbers = {text[:40]!r} names more than {_MOST:,} CPUs")
        found.append(tuple(numbers))
    return tuple(found)


@cache
def core_by_cpu(lists: tuple[str, ...]) -> dict[int, int]:
    """Return the core of each CPU.

    Parameters
    ----------
    lists : tuple of str
        Lists of CPU numbers, as in a machine file.

    Examples
    --------
    >>> core_by_cpu(("0,2,1,3",))[1]
    2
    """
    return {cpu: core for numbers in expanded(lists) for core, cpu in enumerate(numbers)}


def written(numbers: tuple[int, ...], *, strides: bool = True) -> str:
    """Return numbers as a list of ranges, with strides if requested: the inverse of `expanded`.

    Parameters
    ----------
    numbers : tuple of int
        CPU numbers.
    strides : bool, default True
        Whether ranges may have a stride.

    Examples
    --------
    >>> written((0, 2, 4, 6, 1, 3, 5, 7)), written((0, 1, 2, 3, 9))
    ('0-6:2,1-7:2', '0-3,9')
    """
    parts = []
    at = 0
    while at < len(numbers):
        step = numbers[at + 1] - numbers[at] if at + 1 < len(numbers) else 0
        end = at
        while step > 0 and end + 1 < len(numbers) and numbers[end + 1] - numbers[end] == step:
            end += 1
        if (end - at < 2 or not strides) and step != 1:
            end = at
        low, high = numbers[at], numbers[end]
        parts.append(str(low) if end == at else f"{low}-{high}" + (f":{step}" if step > 1 else ""))
        at = end + 1
    return ",".join(parts)
