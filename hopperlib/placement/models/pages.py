"""MPI bandwidth between nodes by the size of memory pages.

A network interface that reads memory directly must know the address of each page. If that costs a fixed time per page,
a byte costs 1 / B plus its share of that time, so small pages are slow regardless of the link's bandwidth. The cost
follows from one pair of measurements.
"""

from hopperlib.errors import InputError, refusal


def page_cost_us(small_gb_s: float, large_gb_s: float, page_bytes: int) -> float:
    """Time that each small page costs in addition to its bytes. [us]

    Parameters
    ----------
    small_gb_s, large_gb_s : float
        Bandwidth with pages of `page_bytes`, and with pages so large that their cost is negligible. [GB/s]
    page_bytes : int
        Size of the small page. [bytes]

    Raises
    ------
    InputError
        If a quantity is not above 0, or small pages are faster.

    Examples
    --------
    Half a microsecond for each 4 KB that Hopper's network moved:

    >>> round(page_cost_us(3.5, 6.0, 4096), 2)
    0.49

    References
    ----------
    K. Antypas and Y. He, CUG 2011, sec. 3, "Low MPI Bandwidth with Small Memory Pages".
    """
    if min(small_gb_s, large_gb_s, page_bytes) <= 0 or small_gb_s > large_gb_s:
        given = f"small_gb_s={small_gb_s:g} must be above 0 and at most large_gb_s={large_gb_s:g}"
        raise InputError(f"{given}, page_bytes={page_bytes} above 0")
    return page_bytes * (1 / small_gb_s - 1 / large_gb_s) / 1e3


def paged_bandwidth_gb_s(page_bytes: int, *, large_gb_s: float, page_cost_us: float) -> float:
    """Bandwidth with pages of a size. [GB/s]

    Parameters
    ----------
    page_bytes : int
        Size of a page. [bytes]
    large_gb_s : float
        Bandwidth with large pages. [GB/s]
    page_cost_us : float
        Cost of a page. [us]

    Raises
    ------
    InputError
        If a quantity is out of its range.

    Examples
    --------
    >>> round(paged_bandwidth_gb_s(4096, large_gb_s=6.0, page_cost_us=0.488), 2)
    3.5
    """
    if page_bytes <= 0 or large_gb_s <= 0:
        raise refusal("page_bytes", page_bytes, f"must be above 0, and so must large_gb_s={large_gb_s:g}")
    return page_bytes / (page_bytes / large_gb_s + page_cost_us * 1e3)
