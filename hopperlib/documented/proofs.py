"""Proofs of the errata and formulas of the checks: a tiny language of arithmetic, evaluated without running code."""

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
        If the text is no such proof.

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


class _Named(ast.NodeTransformer):
    """Puts the values of names in their place."""

    def __init__(self, look_up: Callable[[str], float | bool]) -> None:
        self.look_up = look_up

    def visit_Attribute(self, node: ast.Attribute) -> ast.Constant:
        """Replace a name with points in it."""
        return ast.Constant(self.look_up(ast.unparse(node)))

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        """Replace a name in quotes."""
        return ast.Constant(self.look_up(node.value)) if isinstance(node.value, str) else node


def evaluate_formula(text: str, look_up: Callable[[str], float | bool]) -> float | bool:
    """Return the value of a formula: a proof or a number, in which names stand for values.

    Parameters
    ----------
    text : str
        Names have points in them, or stand in quotes.
    look_up : callable
        Returns the value of a name.

    Raises
    ------
    ValueError
        If the text is no such formula.

    Examples
    --------
    >>> evaluate_formula('2 * "nodes" + machine.cores', {"nodes": 3, "machine.cores": 24}.__getitem__)
    30.0
    """
    try:
        formula = _Named(look_up).visit(ast.parse(text, mode="eval")).body
        if isinstance(formula, ast.Constant) and isinstance(formula.value, bool):
            return formula.value
        value = _evaluate(formula)
    except (SyntaxError, ArithmeticError) as error:
        raise ValueError(f"formula {text}: {error}") from None
    return value if isinstance(value, bool) else float(value)


def _evaluate(node: ast.expr) -> Fraction | bool:
    """Return the value of one part of a proof."""
    match node:
        case ast.BoolOp(op=ast.And()):
            return all([_truth(part) for part in node.values])  # noqa: C419 - a part that is no comparison is an error
        case ast.Compare():
            sides = [_number(side) for side in (node.left, *node.comparators)]
            if all(type(sign) in COMPARISON for sign in node.ops):
                return all(COMPARISON[type(sign)](*pair) for sign, pair in zip(node.ops, pairwise(sides), strict=True))
        case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
            # As it is typed: 0.1 is a tenth, not the binary number next to it.
            # As it is written: 0.1 is a tenth, and not the double next to it.
            return Fraction(repr(node.value))
        case ast.UnaryOp(op=ast.USub()):
            return -_number(node.operand)
        case ast.BinOp(op=ast.Pow()):
            exponent = _number(node.right)
            if exponent.denominator == 1 and abs(exponent) <= LARGEST_EXPONENT:
                return Fraction(_number(node.left) ** int(exponent))
        case ast.BinOp() if type(node.op) in ARITHMETIC:
            return ARITHMETIC[type(node.op)](_number(node.left), _number(node.right))
        case ast.Call(func=ast.Name(id="abs"), args=[argument], keywords=[]):
            return abs(_number(argument))
        case ast.Call(func=ast.Name(id="round"), args=[argument], keywords=[]):
            return Fraction(round(_number(argument)))
        case ast.Call(func=ast.Name(id="round"), args=[argument, ast.Constant(value=int(places))], keywords=[]):
            return round(_number(argument), places)
    raise ValueError(f"no part of it may be: {ast.unparse(node)}")


def _truth(node: ast.expr) -> bool:
    """Return the value of a part of a proof that must be a comparison."""
    truth = _evaluate(node)
    if not isinstance(truth, bool):
        raise ValueError(f"a comparison is needed, not: {ast.unparse(node)}")
    return truth


def _number(node: ast.expr) -> Fraction:
    """Return the value of a part of a proof that must be a number."""
    number = _evaluate(node)
    if isinstance(number, bool):
        raise ValueError(f"a number is needed, not: {ast.unparse(node)}")
    return number
