"""Location of the bytes of a Lustre file on OSTs.

Lustre distributes a file in stripes, like cards: the first `stripe_size_bytes` go to the first object, the next to the
second, and after `stripe_count` objects it starts again. Each object is on one OST [1]_.

References
----------
.. [1] S. Byna et al., CUG 2013, sec. II-B; Lustre Operations Manual, Managing
   File Layout (Striping) and Free Space.
"""

import shlex
from dataclasses import dataclass

from hopperlib.errors import at_least, refusal
from hopperlib.units import binary_size_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Striping of a file.

    Parameters
    ----------
    stripe_count : int
        Number of objects of the file, at most one per OST.
    stripe_size_bytes : int
        Bytes written to an object before the next one is used, a multiple of 65,536. [bytes]
    osts : int
        OSTs of the file system.
    first_ost : int
        OST of the first object; the others follow, wrapping around the file system.

    Raises
    ------
    InputError
        If a number is out of range.

    Examples
    --------
    Hopper's default is 2 stripes of 1 MiB: the third mebibyte is back on the first object.

    >>> layout = Layout(stripe_count=2, stripe_size_bytes=1 << 20, osts=156, first_ost=155)
    >>> [layout.ost_of(offset << 20) for offset in range(3)]
    [155, 0, 155]
    """

    stripe_count: int
    stripe_size_bytes: int
    osts: int
    first_ost: int = 0

    def __post_init__(self) -> None:
        at_least(1, osts=self.osts)
        if not 1 <= self.stripe_count <= self.osts:
            rule = f"must be from 1 to {self.osts}, the OSTs of the file system"
            raise refusal("stripe_count", self.stripe_count, rule)
        if self.stripe_size_bytes < 65_536 or self.stripe_size_bytes % 65_536:
            rule = "must be a multiple of 65,536: Lustre refuses others"
            raise refusal("stripe_size_bytes", self.stripe_size_bytes, rule)
        if not 0 <= self.first_ost < self.osts:
            raise refusal("first_ost", self.first_ost, f"must be from 0 to {self.osts - 1}")

    def object_of(self, offset_bytes: int) -> tuple[int, int]:
        """Return the object that holds a byte, and the byte's offset in it. [bytes]

        Parameters
        ----------
        offset_bytes : int
            Offset in the file, from 0. [bytes]

        Raises
        ------
        InputError
            If the offset is negative.
        """
        at_least(0, offset_bytes=offset_bytes)
        stripe, within = divmod(offset_bytes, self.stripe_size_bytes)
        turn, number = divmod(stripe, self.stripe_count)
        return number, turn * self.stripe_size_bytes + within

    def ost_of(self, offset_bytes: int) -> int:
        """Return the OST that holds a byte.

        Parameters
        ----------
        offset_bytes : int
            Offset in the file, from 0. [bytes]
        """
        return (self.first_ost + self.object_of(offset_bytes)[0]) % self.osts

    def lfs_command(self, path: str = "DIRECTORY") -> str:
        """Return the command that gives a new file or directory this layout.

        Parameters
        ----------
        path : str, default 'DIRECTORY'
            File or folder.

        Examples
        --------
        >>> Layout(stripe_count=144, stripe_size_bytes=64 << 20, osts=156).lfs_command("run/")
        'lfs setstripe -c 144 -S 64M run/'
        """
        count = -1 if self.stripe_count == self.osts else self.stripe_count
        size = binary_size_text(self.stripe_size_bytes)
        return f"lfs setstripe -c {count} -S {size} {shlex.quote(path)}"
