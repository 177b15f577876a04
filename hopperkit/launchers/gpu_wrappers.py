"""Wrapper programs that choose a GPU for a program: recognized by the variables they set, also in here-documents."""

import re
from collections.abc import Mapping, Sequence
from posixpath import basename

_CHOOSES = re.compile(r"\b(?:ROCR_VISIBLE_DEVICES|HIP_VISIBLE_DEVICES|CUDA_VISIBLE_DEVICES|ZE_AFFINITY_MASK)=")
_NAMES = re.compile(r"select_gpu|set_affinity|gpu_tile_compact|gpu_dev_compact|gpu_?bind|gpu_affinity")
_HEREDOC = re.compile(
    r"^[ \t]*cat\b[ \t]*(?:<<-?[ \t]*['\"\\]?(\w+)['\"]?[ \t]*>[ \t]*(\S+)|>[ \t]*(\S+)[ \t]*<<-?[ \t]*['\"\\]?(\w+)['\"]?)[ \t]*$",
    re.MULTILINE,
)
# Leading words of a command that may include a wrapper.
_FIRST_WORDS = 4


def wrappers_of(text: str) -> frozenset[str]:
    r"""Return the files that a script writes by here-documents and that choose a GPU.

    Parameters
    ----------
    text : str
        Text of a job script.

    Examples
    --------
    >>> sorted(wrappers_of("cat << EOF > ./pick_${SLURM_JOB_ID}\nexport ROCR_VISIBLE_DEVICES=\\$SLURM_LOCALID\nEOF\n"))
    ['pick_$SLURM_JOB_ID']
    """
    found = set()
    for match in _HEREDOC.finditer(text):
        end = re.search(rf"^\s*{match[1] or match[4]}\s*$", text[match.end() :], re.MULTILINE)
        body = text[match.end() :][: end.start() if end else None]
        if _CHOOSES.search(body):
            found.add(_plain_name(match[2] or match[3]))
    return frozenset(found)


def _plain_name(word: str) -> str:
    """Return the name of a file without its folders, quotes and the braces of variables."""
    return basename(re.sub(r"[{}'\"]", "", word))


def chooses_gpus(
    command: Sequence[str], environment: Mapping[str, str], wrappers: frozenset[str] = frozenset()
) -> bool:
    """Whether something in front of a program, or in the environment, chooses its GPUs.

    Parameters
    ----------
    command : sequence of str
        Words of the program and its arguments.
    environment : mapping of str to str
        Environment variables.
    wrappers : frozenset[str], default frozenset()
        Names of wrapper scripts.

    Examples
    --------
    >>> chooses_gpus(("./select_gpu_$SLURM_JOB_ID", "./a.out"), {}), chooses_gpus(("./a.out",), {})
    (True, False)
    """
    words = command[:_FIRST_WORDS]
    named = any(_NAMES.search(basename(word)) or _plain_name(word) in wrappers for word in words)
    return named or any(_CHOOSES.search(word) or _CHOOSES.match(f"{word}=") for word in (*words, *environment))


def gpus_by_wrapper(command: Sequence[str], tasks: int, gpus: int) -> list[tuple[int, ...]]:
    """Return the GPUs that a known wrapper gives each task of a node, by its local rank; empty for others.

    The wrappers of ALCF give a tile, or a GPU of two tiles, in the order of the local ranks.

    Parameters
    ----------
    command : sequence of str
        Words of the program and its arguments.
    tasks, gpus : int
        Tasks and GPUs (or tiles) of the node.

    Examples
    --------
    >>> gpus_by_wrapper(("gpu_tile_compact.sh", "./a"), 3, 12), gpus_by_wrapper(("gpu_dev_compact.sh", "./a"), 2, 12)
    ([(0,), (1,), (2,)], [(0, 1), (2, 3)])

    References
    ----------
    ALCF user guides, Aurora, Running Jobs: gpu_tile_compact.sh, gpu_dev_compact.sh.
    """
    for word in command[:_FIRST_WORDS]:
        if basename(word).startswith("gpu_tile_compact"):
            return [(task % gpus,) for task in range(tasks)]
        if basename(word).startswith("gpu_dev_compact") and gpus % 2 == 0:
            return [(2 * (task % (gpus // 2)), 2 * (task % (gpus // 2)) + 1) for task in range(tasks)]
    return []
