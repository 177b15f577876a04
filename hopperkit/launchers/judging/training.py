"""Programs that start the workers of a training job: torchrun and its kin, with the numbers that they are given.

References
----------
PyTorch documentation, torchrun (Elastic Launch): defaults of ``--nnodes``, ``--nproc-per-node``, ``--node-rank``;
Hugging Face Accelerate documentation, "Launching your 🤗 Accelerate scripts"; DeepSpeed, Getting Started.
"""

import re
from collections.abc import Iterator, Sequence
from posixpath import basename
from typing import NamedTuple

from hopperkit.launchers.scripts import LaunchLine, Script
from hopperkit.launchers.words.shell import RawWord, Word

_STARTERS = ("torchrun", "torch.distributed.run", "torch.distributed.launch", "accelerate", "deepspeed")
NODES = "nnodes|num[-_]machines|num[-_]nodes"
"""Options that give a starter its nodes, as a regular expression."""
WORKERS = "nproc[-_]per[-_]node|num[-_]gpus"
"""Options that give a starter the workers of a node."""
RANK = "node[-_]rank|machine[-_]rank"
"""Options that give a starter the number of its node."""
PORT = "master[-_]port|main[-_]process[-_]port"
"""Options that set a starter's port; a rendezvous endpoint includes one too."""
_LOCAL = r"(?:localhost|127\.0\.0\.1|0\.0\.0\.0)"
# A rank expanded by the shell of the batch script: it is the script's, 0.
_RANK_HERE = r"(?<!\\)\$\{?SLURM_(?:NODEID|PROCID|LOCALID)\b"


class Starter(NamedTuple):
    """A program that starts workers on one node.

    Parameters
    ----------
    name : str
    workers, nodes, port, rank : int or None
        Its workers on a node, the nodes, the port and the number of its node that it is given.
    text : str
        Its options.
    is_complete : bool
        Whether all of its options are spelled out, none being left to a variable or a file.
    """

    name: str
    workers: int | None
    nodes: int | None
    port: int | None
    rank: int | None
    text: str
    is_complete: bool = True

    @property
    def meets_by_rank(self) -> bool:
        """Whether the nodes need an explicit rank rather than a rendezvous."""
        static = re.search(r"--rdzv[-_]backend[= ]+static", self.text)
        return bool(static) or not re.search(r"--rdzv[-_](?:backend|endpoint)|--hostfile|--standalone", self.text)

    @property
    def meets_at_home(self) -> bool:
        """Whether each node looks for the others on the local host."""
        return bool(
            re.search(
                rf"--(?:rdzv[-_]endpoint|master[-_]addr|main[-_]process[-_]ip)[= ]+{_LOCAL}(?![\w.])|--standalone\b",
                self.text,
            )
        )


def starter_in(words: Sequence[Word]) -> Starter | None:
    """Return the starter in a command, also within a container, after Python or in a shell string.

    Parameters
    ----------
    words : sequence of Word
        Words of a command.

    Examples
    --------
    >>> words = [Word(text=each) for each in "python -m torch.distributed.run --nnodes=2 --nproc-per-node 8 t.py".split()]
    >>> starter_in(words)[:3]
    ('torch.distributed.run', 8, 2)
    """
    for at, word in enumerate(words):
        name = next((each for each in _STARTERS if basename(word.text) == each), "")
        if name == "accelerate" and [each.text for each in words[at + 1 : at + 2]] != ["launch"]:
            continue
        if name:
            return _read(name, words[at + 1 :])
    # A shell may be handed the whole command as one word.
    quoted = next((word for word in words if " " in word.text and any(each in word.text for each in _STARTERS)), None)
    inner = (
        [Word(text=part, unknown=quoted.unknown if "$" in part else "") for part in _parts(quoted)] if quoted else []
    )
    return starter_in(inner) if len(inner) > 1 else None


def _parts(quoted: Word) -> list[str]:
    """Return the parts of a command in quotes."""
    return re.sub(r"\\\n", " ", quoted.text.strip("'\"")).split()


def _read(name: str, words: Sequence[Word]) -> Starter:
    """Return a starter with the numbers after its name, up to the program that it starts."""
    end = next((at for at, word in enumerate(words) if re.search(r"\.py$", word.text)), len(words))
    text = " ".join(word.text for word in words)
    ahead = words[:end]
    nodes, workers = _number(text, NODES), _number(text, WORKERS)
    if name == "accelerate" and (all_workers := _number(text, "num[-_]processes")):
        workers = -(-all_workers // (nodes or 1))
    endpoint = re.search(r"--rdzv[-_]endpoint[= ]+\S*?:(\d{2,5})(?!\S)", text)
    port = int(endpoint[1]) if endpoint else _number(text, PORT)
    # A variable that forms a whole word, or an options file, may set the rest.
    bare = any(
        re.fullmatch(r"\"?\$\{?\w+(?:\[[@*]\])?\}?\"?", each.text) and _is_alone(ahead, at)
        for at, each in enumerate(ahead)
    )
    complete = not bare and end < len(words) and "--config" not in text
    return Starter(name, workers, nodes, port, _number(text, RANK), text, complete)


def _is_alone(words: Sequence[Word], at: int) -> bool:
    """Whether a word is not the value of the option before it."""
    return at == 0 or not words[at - 1].text.startswith("-") or "=" in words[at - 1].text


def _number(text: str, options: str) -> int | None:
    """Return the integer given by one of several options."""
    match = re.search(rf"(?<!\S)--?(?:{options})[= ]+(\d{{1,6}})(?!\S)", text)
    return int(match[1]) if match else None


def is_rank_of_script(words: Sequence[Word]) -> bool:
    """Whether the rank of a node or a machine is expanded by the shell of the batch script, where it is 0 for all.

    Parameters
    ----------
    words : sequence of Word
        Words of a command.

    Examples
    --------
    >>> is_rank_of_script([Word(text="--node_rank=$SLURM_NODEID", unknown="is not set", typed="--node_rank=$SLURM_NODEID")])
    True
    >>> is_rank_of_script([Word(text="torchrun --node_rank=$SLURM_NODEID t.py", typed="'torchrun ...'")])
    False
    """
    for at, word in enumerate(words):
        option = (
            word.typed if "=" in word.typed or " " in word.typed else f"{words[at - 1].text}={word.typed}" if at else ""
        )
        if word.unknown and re.search(rf"--(?:{RANK})[= ]+\"?{_RANK_HERE}", option):
            return True
    return False


def plain_commands(script: Script) -> Iterator[tuple[int, list[Word]]]:
    r"""Yield the commands that no launcher starts, with their lines; commands started by ssh and the like are left out.

    Parameters
    ----------
    script : Script
        Batch script.

    Examples
    --------
    >>> from hopperkit.launchers.scripts import read_script
    >>> [(line, words[0].text) for line, words in plain_commands(read_script("ssh n1 ls\ntorchrun t.py\nsrun ./a"))]
    [(2, 'torchrun')]
    """
    launched = {line.line for line in script.lines}
    for statement in script.statements:
        words = [_plain(word) for word in statement]
        first = basename(words[0].text) if words else ""
        if statement.line not in launched and first not in _NO_PROGRAM:
            yield statement.line, words


_NO_PROGRAM = ("ssh", "pdsh", "echo", "printf", "for", "alias", "which", "pip", "export", "cat", "pgrep", "pkill")


def _plain(word: RawWord) -> Word:
    """Return a word without its outer quotes."""
    return Word(text=word.raw.strip("'\"") if " " not in word.raw else word.raw)


def tasks_of_mpirun(line: LaunchLine, nodes: int | None) -> int | None:
    """Return the tasks per node that mpirun or mpiexec starts; None if the line does not set them.

    Parameters
    ----------
    line : LaunchLine
        The launch line.
    nodes : int or None
        Number of nodes; None if unknown.

    Examples
    --------
    >>> from hopperkit.launchers.scripts import read_script
    >>> tasks_of_mpirun(read_script("mpirun -np 16 torchrun t.py").lines[0], 2)
    8
    """
    text = " ".join(word.text for word in line.words)
    per_node = re.search(r"(?:^| )--?(?:npernode|ppn|N|ppr:)[ =]?(\d{1,5})(?!\S)", text) or re.search(
        r"ppr:(\d{1,5}):node", text
    )
    whole = re.search(r"(?:^| )-(?:np|n)[ =](\d{1,7})(?!\S)", text)
    if per_node:
        return int(per_node[1])
    return -(-int(whole[1]) // (nodes or 1)) if whole else None
