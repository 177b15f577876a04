"""File systems that are not Lustre: whether striping applies, and what to set instead.

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
        Hints for MPI-IO that help here, in ROMIO's syntax.
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
        "Striping does not apply: GPFS distributes the blocks of every file over all disks of its pool. The block size was chosen when the file system was created. Begin each task's part at a multiple of it, and let MPI-IO gather small accesses in buffers of whole blocks; two tasks that write into one block compete for its lock.",
        {
            "The size of a block": "mmlsfs DEVICE -B",
        },
        _GATHERED,
    ),
    "daos": OtherFileSystem(
        "DAOS",
        "There is no stripe count, but an object class has the same effect: S1 puts a file on one target, SX over all of them. "
        "SX for one large shared file, S1 for one file per task; the chunk size corresponds to Lustre's stripe size.",
        {
            "For a shared file": "daos cont create POOL LABEL --type=POSIX --file-oclass=SX --dir-oclass=SX "
            "--chunk-size=1MiB",
            "For a file a task": "daos cont create POOL LABEL --type=POSIX --file-oclass=S1 --dir-oclass=SX",
        },
    ),
    "vast": OtherFileSystem(
        "VAST",
        "Striping does not apply: every server reaches all data. What matters is the number of connections from a node to the servers, which mount options set, and writing files in large pieces.",
        {"Mount options: look for nconnect and remoteports": "grep vast /proc/mounts"},
        _GATHERED,
    ),
    "burst-buffer": OtherFileSystem(
        "A burst buffer (DataWarp)",
        "There is no stripe count: the requested capacity determines the number of servers for a job's files, in units set by the site. Request more capacity to get more servers.",
        {
            "How large a piece is": "dwstat pools",
            "In the job script": "#DW jobdw capacity=10TB access_mode=striped type=scratch",
        },
    ),
    "nfs": OtherFileSystem(
        "NFS, home or project space",
        "Striping does not apply: one server handles everything. Write large output to scratch.",
        {"What a folder lies on": "df -T DIRECTORY"},
    ),
}
