"""Proofs of the errata: a tiny language of arithmetic, evaluated without running code."""

import ast
import operator
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

# Largest power that a proof may take: enough for bytes, too little to keep a machine busy.
LARGEST_EXPONENT = 64

ARITHMETIC: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
COMPARISON = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def evaluate_proof(text: str) -> bool:
    """Return whether a proof of an erratum holds.

    A proof is made of numbers, ``+ - * / **``, comparisons joined by ``and``,
    ``round()`` and ``abs()``. Numbers are exact fractions: 0.1 + 0.2 is 0.3,
    and `round` takes a tie to the even digit.

    Raises
    ------
    ValueError
        If the text is not such a proof.

    Examples
    --------
    >>> evaluate_proof("round(3.5 / 6 * 100) == 58 and 0.1 + 0.2 == 0.3")
    True
    >>> evaluate_proof("open('notes')")
    Traceback (most recent call last):
    ValueError: proof "open('notes')": no part of it may be: open('notes')
    """
    try:
        return _truth(ast.parse(text, mode="eval").body)
    except SyntaxError as error:
        raise ValueError(f'proof "{text}": {error.msg}') from None
    except (ArithmeticError, ValueError) as error:
        raise ValueError(f'proof "{text}": {error}') from None


def evaluate(node: ast.expr) -> Fraction | bool:
    """Return the value of one part of a proof.

    Raises
    ------
    ValueError
        If it may be no part of one.

    Examples
    --------
    >>> evaluate(ast.parse("0.1 + 0.2", mode="eval").body)
    Fraction(3, 10)
    """
    match node:
        case ast.BoolOp(op=ast.And()):
            return all([_truth(part) for part in node.values])  # noqa: C419 - a part that is no comparison is an error
        case ast.Compare():
            sides = [_number(side) for side in (node.left, *node.comparators)]
            if COMPARISON.keys() >= set(map(type, node.ops)):
                return all(COMPARISON[type(sign)](*pair) for sign, pair in zip(node.ops, pairwise(sides), strict=True))
        case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
            # As it is written: 0.1 is a tenth, and not the double next to it.
            return Fraction(repr(node.value))
        case ast.UnaryOp(op=ast.USub()):
            return -_number(node.operand)
        case ast.BinOp() if (operation := _operation(node)) is not None:
            return operation(_number(node.left), _number(node.right))
        case ast.Call(func=ast.Name(id="abs" | "round" as name), args=[argument], keywords=[]):
            return abs(_number(argument)) if name == "abs" else Fraction(round(_number(argument)))
        case ast.Call(func=ast.Name(id="round"), args=[argument, ast.Constant(value=int(places))], keywords=[]):
            return round(_number(argument), places)
    raise ValueError(f"no part of it may be: {ast.unparse(node)}")


def _operation(node: ast.BinOp) -> Callable[[Fraction, Fraction], Fraction] | None:
    """Return the operation of a sign; None for an unsupported one."""
    if not isinstance(node.op, ast.Pow):
        return ARITHMETIC.get(type(node.op))
    exponent = _number(node.right)
    small = exponent.denominator == 1 and abs(exponent) <= LARGEST_EXPONENT
    return (lambda base, power: Fraction(base ** int(power))) if small else None


def _truth(node: ast.expr) -> bool:
    """Return the value of a part of a proof that must be a comparison."""
    truth = evaluate(node)
    if not isinstance(truth, bool):
        raise ValueError(f"a comparison is needed, not: {ast.unparse(node)}")
    return truth


def _number(node: ast.expr) -> Fraction:
    """Return the value of a part of a proof that must be a number."""
    number = evaluate(node)
    if isinstance(number, bool):
        raise ValueError(f"a number is needed, not: {ast.unparse(node)}")
    return number
