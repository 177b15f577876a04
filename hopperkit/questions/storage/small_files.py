"""Question: the cost of many small files, and alternatives."""

from collections.abc import Iterator
from functools import cached_property

from hopperkit.filesystems.node_lines import node_lines
from hopperkit.filesystems.small_files import WAYS, FilesCost, Way, files_cost
from hopperkit.questions import ask
from hopperkit.questions.result import Column, Result, Snippet, Table, table
from hopperlib.finding import Finding
from hopperlib.machine import FileSystem, Machine
from hopperlib.storage.lustre.client import file_system_of
from hopperlib.text import count, digits

# Most sites limit a project's inodes on Lustre to some millions.
_MANY, _SHORT_S = 100_000, 1.0
_SHARED = """\
with h5py.File("out.h5", "w", driver="mpio", comm=comm) as file:
    file.create_dataset("records", (FILES, BYTES), "u1")[first:last] = records"""


class Files(ask.Setting):
    """Many files, who writes them and where."""

    machine: Machine = ask.machine(having="file_systems")
    files: int = ask.whole("Files", 1_000_000, (1, 10**12))
    size_kb: float = ask.number("Size of a file", 10.0, (0.001, 1e9, 1.0), unit="kB")
    tasks: int = ask.whole("Tasks", 1024, (1, 10**9))
    nodes: int = ask.whole("Nodes", 64, (1, 10_000_000))
    machine_file: str = ask.machine_file()

    @property
    def system(self) -> FileSystem:
        """The file system of the files."""
        return file_system_of(self.machine)

    @cached_property
    def costs(self) -> dict[Way, FilesCost]:
        """Cost of each method."""
        return {
            way: files_cost(
                way,
                files=self.files,
                size_bytes=max(1, round(1000 * self.size_kb)),
                tasks=self.tasks,
                nodes=min(self.nodes, self.tasks),
                system=self.system,
            )
            for way in WAYS
        }


def answer(given: Files) -> Result:
    """Return the answer.

    Parameters
    ----------
    given : Files
        Many files, who writes them and where.

    Returns
    -------
    Result
        The answer.

    Examples
    --------
    >>> round(answer(Files()).facts['metadata_s'])
    200
    """
    now, archive = given.costs["one folder"], given.costs["node archive"]
    return Result(
        summary=_summary(given),
        findings=(_finding(given),),
        tables=(_table(given),),
        copyables=tuple(_lines(given)),
        facts={
            "metadata_s": now.metadata_s.usual,
            "metadata_low_s": now.metadata_s.low,
            "metadata_high_s": now.metadata_s.high,
            "archive_s": archive.total_s.usual,
            "files_left": {way: cost.files for way, cost in given.costs.items()},
        },
    )


def _lines(given: Files) -> Iterator[Snippet]:
    """Yield the commands for each alternative, with the machine's launcher if its file names one."""
    nodes = min(given.nodes, given.tasks)
    if lines := node_lines(given.machine, nodes=nodes, tasks=given.tasks):
        yield Snippet(
            "Write on the nodes, keep one archive per node",
            "export WORK=/dev/shm/$USER-out   # or /tmp, where that is a disk of the node\n"
            f"{lines.once} mkdir -p $WORK\n{lines.everywhere} ./program --output $WORK\n"
            f'{lines.once} sh -c "tar cf out-\\$(hostname).tar -C $WORK ."',
        )
        yield Snippet(
            "Files that are read often: one image",
            "mksquashfs FILES files.squashfs -noappend\n"
            f"{lines.once} sh -c 'mkdir -p /tmp/files && squashfuse files.squashfs /tmp/files'",
        )
    yield Snippet("Records of one shared file, each task its part", _SHARED)


def _summary(given: Files) -> str:
    now, archive = given.costs["one folder"], given.costs["node archive"]
    low, usual, high = now.metadata_s
    verdict = "Don't: " if now.total_s.usual > 2 * archive.total_s.usual and _costs(given) else ""
    return (
        f"{verdict}{count(given.files, 'file')} in one folder of {given.system.name} ({given.machine.title}) take "
        f"{digits(usual, 3)} s to create or to open ({digits(low, 3)} to {digits(high, 3)} s), and as long again each "
        f"time they are read, listed or deleted; their data take {digits(now.moving_s, 3)} s. "
        f"One archive per node leaves {count(archive.files, 'file')}."
    )


def _costs(given: Files) -> bool:
    """Whether the files need advice."""
    return given.files >= _MANY or given.costs["one folder"].metadata_s.usual > _SHORT_S


def _finding(given: Files) -> Finding:
    """Return the recommendation."""
    now = given.costs["one folder"]
    if not _costs(given):
        return Finding("few-files", "These few files cost almost nothing: keep them as they are.", "ok")
    message = (
        f"The metadata servers, which all jobs share, answer {count(given.files, 'request')} for them; quotas count each file. "
        "Write them to node-local storage, and keep only a few large files."
    )
    return Finding("many-files", message, "problem" if now.metadata_s.usual > now.moving_s else "advice")


def _table(given: Files) -> Table:
    """Return the cost of each method."""
    return table(
        "The same data stored in four ways",
        WAYS,
        {
            "Way": lambda way: way,
            Column("Files left", "", 0): lambda way: given.costs[way].files,
            Column("Metadata", "s", 2, "calibrated"): lambda way: given.costs[way].metadata_s.usual,
            Column("At least", "s", 2): lambda way: given.costs[way].metadata_s.low,
            Column("At most", "s", 2): lambda way: given.costs[way].metadata_s.high,
            Column("Data", "s", 2, "predicted"): lambda way: given.costs[way].moving_s,
        },
    )


QUESTION = ask.declared(
    Files,
    answer,
    title="What do many small files cost?",
    examples={
        "A million on Perlmutter": {"machine": "perlmutter"},
        "A thousand": {"files": 1000},
    },
)
