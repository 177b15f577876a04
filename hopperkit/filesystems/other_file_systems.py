"""File systems that are not Lustre: whether there is anything to stripe, and what to set instead.

No rates: these file systems are not modeled. The advice on writing for Lustre also applies: few large accesses aligned
with the block, by few tasks per node.
"""

from collections.abc import Mapping
from typing import NamedTuple


class OtherFileSystem(NamedTuple):
    """A kind of file system.

    Parameters
    ----------
    title : str
    answer : str
        Determines the rate here, instead of stripes.
    commands : mapping
        Effect of each command, and the command.
    hints : mapping
        Hints for MPI-IO that help here, in the words of ROMIO.
    """

    title: str
    answer: str
    commands: Mapping[str, str] = {}
    hints: Mapping[str, str | int] = {}


_GATHERED: Mapping[str, str | int] = {
    "romio_cb_write": "enable",
    "romio_ds_write": "disable",
    "cb_buffer_size": 16_777_216,
}

OTHER_FILE_SYSTEMS = {
    "gpfs": OtherFileSystem(
        "GPFS (IBM Storage Scale)",
        "Nothing to stripe here: GPFS deals the blocks of every file over all disks of its pool. "
        "The size of a block was chosen when the file system was made. Begin each task's part at a multiple of it, "
        "and let MPI-IO gather small accesses in buffers of whole blocks; two tasks that write into one block take "
        "its lock from each other.",
        {
            "The size of a block": "mmlsfs DEVICE -B",
        },
        _GATHERED,
    ),
    "daos": OtherFileSystem(
        "DAOS",
        "No stripe count, but an object class does the same: S1 puts a file on one target, SX over all of them. "
        "SX for one large shared file, S1 for a file a task; the chunk size is what the stripe size is on Lustre.",
        {
            "For a shared file": "daos cont create POOL LABEL --type=POSIX --file-oclass=SX --dir-oclass=SX "
            "--chunk-size=1MiB",
            "For a file a task": "daos cont create POOL LABEL --type=POSIX --file-oclass=S1 --dir-oclass=SX",
        },
    ),
    "vast": OtherFileSystem(
        "VAST",
        "Nothing to stripe here: every server reaches all data. What counts is how many connections a node has to the "
        "servers, which those who mount it set, and that a file is written in large pieces.",
        {"How it is mounted: look for nconnect and remoteports": "grep vast /proc/mounts"},
        _GATHERED,
    ),
    "burst-buffer": OtherFileSystem(
        "A burst buffer (DataWarp)",
        "No stripe count: the capacity you ask for decides over how many servers a job's files are dealt, in pieces "
        "that the site sets. Ask for more capacity to get more servers.",
        {
            "How large a piece is": "dwstat pools",
            "In the job script": "#DW jobdw capacity=10TB access_mode=striped type=scratch",
        },
    ),
    "nfs": OtherFileSystem(
        "NFS, home or project space",
        "Nothing to stripe here, and nothing to gain: one server takes it all. Write large output to scratch.",
        {"What a folder lies on": "df -T DIRECTORY"},
    ),
}
