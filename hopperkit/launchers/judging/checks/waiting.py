"""Launch lines in the background at the end of a script, which ends before them.

References
----------
POSIX.1-2017, "Shell Command Language," Asynchronous Lists, and ``wait``; SchedMD, sbatch man page (a job ends with its
batch script, and its steps are terminated).
"""

import re
from collections.abc import Iterator, Sequence
from posixpath import basename

from hopperkit.launchers.judging.remedies import Draft, Remedy
from hopperkit.launchers.scripts import LOOPS, Script
from hopperkit.launchers.words.shell import Edit, Statement
from hopperlib.finding import Finding
from hopperlib.text import listed

# Words in front of a command, and those that end a block.
_BEFORE = ("do", "then", "else", "{", "!", "time", "elif", "if", "while", "until")
_ENDS = ("done", "fi", "esac", "}", "end", "endif", ";;")
# Commands that take no time, after which a script is at its end.
_SHORT = {
    *("echo", "printf", "date", "cd", "module", "ml", "mv", "cp", "rm", "ls", "cat", "mkdir", "touch", "exit", "true"),
    *(":", "export", "unset", "set", "local", "hostname", "pwd", "chmod", "ln", "head", "tail", "grep", "for", "case"),
    *("foreach", "((", "[", "[[", "test", "let", "@", "shift", "read", "source", ".", "ulimit", "function", "return"),
    *(
        "setenv",
        "df",
        "du",
        "env",
        "which",
        "squeue",
        "sacct",
        "disown",
        "break",
        "continue",
        "declare",
        "popd",
        "pushd",
    ),
}
# Other ways to wait for processes, or to start a program that does.
_WAITS = re.compile(
    r"\b(?:kill[ \t]+-(?:0|s[ \t]*0)\b|jobs\b|pgrep\b|pidof\b|tail[ \t]+[^\n]*--pid|ps[ \t]+-?[a-z]*p\b|trap\b)"
)


def check_waiting(script: Script) -> Iterator[Draft]:
    r"""Yield launch lines in the background for which a job script does not wait.

    A script that goes on with a longer command after them is not reported: it may end with that.

    Parameters
    ----------
    script : Script

    Examples
    --------
    >>> from hopperkit.launchers.scripts import read_script
    >>> (draft,) = check_waiting(read_script("#SBATCH -N 1\nsrun -n 1 ./a &\nsrun -n 1 ./b &\n"))
    >>> print(draft.finding.message)
    Lines 2 and 3 start programs in the background, and the script ends without waiting for them: the job ends with it, and they are killed.
    >>> draft.remedies[0].words
    'Write wait on a line at the end.'
    """
    if not script.directives or not script.lines:
        return
    commands = [_Command(statement) for statement in script.statements]
    started = list(_started(script, commands))
    if not started or not _ends_at_once(script, commands, started[-1]):
        return
    numbers = sorted({commands[at].line for at in started})
    several = len(numbers) > 1 or _is_repeated(commands, started[0])
    begin = f"Lines {listed(numbers[:4])} start" if len(numbers) > 1 else f"Line {numbers[0]} starts"
    some, them, they = ("programs", "them", "they are") if several else ("a program", "it", "it is")
    message = (
        f"{begin} {some} in the background, and the script ends without waiting for {them}: the job ends with it, "
        f"and {they} killed."
    )
    end = len(script.text.rstrip())
    finding = Finding("wait-missing", message, "problem", {"line": numbers[0]}, "Write wait on a line at the end.")
    yield Draft(finding, (Remedy("Write wait on a line at the end.", (Edit(end, end, "\nwait"),)),))


def _started(script: Script, commands: Sequence["_Command"]) -> Iterator[int]:
    """Yield the indices of the commands that start tasks in the background."""
    places = {line.line for line in script.lines}
    for at, each in enumerate(commands):
        if each.launches and each.line in places and (each.background or _in_background(commands, at)):
            yield at


class _Command:
    """A statement without the words of the shell's grammar in front of it."""

    def __init__(self, statement: Statement) -> None:
        words = [word.raw for word in statement]
        self.first = words[0] if words else ""
        while words and words[0] in _BEFORE:
            words.pop(0)
        self.words = words
        self.name = basename(words[0]) if words else ""
        self.line = statement.line
        self.background = statement.background or statement.detached
        self.launches = any(basename(word) in _STARTERS for word in words)


_STARTERS = ("srun", "aprun", "mpiexec", "mpirun", "ibrun", "mpiexec.hydra", "orterun", "prterun", "prun", "flux")


def _in_background(commands: Sequence[_Command], at: int) -> bool:
    """Whether a loop or a group of braces around a command is in the background."""
    depth = 0
    for each in commands[at + 1 :]:
        if each.first in (*LOOPS, "{"):
            depth += 1
        elif each.first in ("done", "}", "end"):
            if depth == 0 and each.background:
                return True
            depth = max(depth - 1, -1) if depth else 0
    return False


def _is_repeated(commands: Sequence[_Command], at: int) -> bool:
    """Whether a loop around a command runs it more than once."""
    depth = 0
    for each in commands[:at]:
        depth += (each.first in LOOPS) - (each.first in ("done", "end"))
    return depth > 0


def _ends_at_once(script: Script, commands: Sequence[_Command], last: int) -> bool:
    """Whether a script is at its end after a command: no wait, and no longer command."""
    functions = set(re.findall(r"^[ \t]*(?:function[ \t]+)?([\w-]+)[ \t]*\([ \t]*\)", script.text, re.MULTILINE))
    functions |= set(re.findall(r"^[ \t]*function[ \t]+([\w-]+)", script.text, re.MULTILINE))
    if functions and any(each.name == "wait" for each in commands):
        # A function that waits may be called anywhere.
        return False
    if _WAITS.search(script.text) or "<<" in script.text:
        return False
    short = _SHORT | functions
    for each in commands[last + 1 :]:
        if each.background or not each.words or each.words[0] in _ENDS:
            continue
        if "=" in each.name and re.match(r"[A-Za-z_]\w*(\[[^\]]*\])?\+?=", each.words[0]):
            continue
        brief_pause = each.name == "sleep" and re.fullmatch(r"[0-5]?\d(\.\d+)?s?", "".join(each.words[1:]))
        if each.name not in short and not brief_pause:
            return False
    return True
