"""Implementation of `hopperkit.place`, for the given machine or the one named in the text."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hopperkit.questions.result import Result


def run_place(name: str, /, **values: Any) -> "Result":
    r"""Return the answer for the first launch line of a text, or for the one with number `launch`.

    Parameters
    ----------
    name : str
        Name of the question, "place".

    Raises
    ------
    InputError
        If a value is invalid, or the launcher would reject the line.

    Examples
    --------
    >>> run_place("place", line="#SBATCH -C gpu -q regular\nsrun -n 4 -c 32 ./a").summary[:10]
    'Perlmutter'
    """
    from hopperkit.api.kinds import given_values
    from hopperkit.questions.machine_choice import guess_machine
    from hopperkit.questions.node.place import run_lines
    from hopperkit.questions.question import load

    question, doubt, evidence = load(name), "", ""
    found = given_values(question, values)
    if "machine" not in found:
        guess = guess_machine(found["line"])
        found["machine"], doubt, evidence = guess.machine, guess.doubt, guess.sign
    return run_lines(question.read(found), doubt=doubt, evidence=evidence)
