"""Evaluate a ``"module:expression"`` of the facts registry.

The expression is data in a text file, so only a small part of Python is
understood: names of one module of the package, attributes, items, calls,
constants and arithmetic. No builtins, no imports, nothing private.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import Any

from cutaway.core.checks import check
from cutaway.core.errors import CutawayError

_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = (
    MappingProxyType(
        {
            ast.Add: operator.add,
            ast.Sub: operator.sub,
            ast.Mult: operator.mul,
            ast.Div: operator.truediv,
            ast.FloorDiv: operator.floordiv,
            ast.Mod: operator.mod,
            ast.Pow: operator.pow,
        }
    )
)
_MAX_EXPONENT = 128


class ExpressionError(CutawayError):
    """An expression is not of the small language, or does not evaluate."""


def evaluate(spec: str) -> Any:
    """Return the value of an expression in a module's namespace.

    Args:
        spec: ``"cutaway.module:expression"``.

    Raises:
        ExpressionError: The module or a name does not exist, or the
            expression uses more than names, attributes, items, calls,
            constants and arithmetic.

    Source: the grammar nodes are those of Python's ``ast`` module.

    >>> evaluate("cutaway.roofline:kv_bytes_per_token(CONFIGS['llama-2-7b'])")
    524288
    """
    module_name, found, text = spec.partition(":")
    ours = module_name.split(".")[0] == "cutaway"
    check(bool(found) and ours, "compute", spec, '"cutaway.module:expression"')
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        raise ExpressionError(
            "compute", module_name, "a module of the package"
        ) from error
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        raise ExpressionError("compute", text, "an expression") from error
    return _value(tree.body, module)


def _value(node: ast.expr, module: ModuleType) -> Any:
    """Return the value of one node; refuse every kind not named here."""
    match node:
        case ast.Constant(value=int() | float() | str() | None):
            return node.value
        case ast.Name(id=name):
            return _member(module, name)
        case ast.Attribute(value=inner, attr=name):
            return _member(_value(inner, module), name)
        case ast.Subscript(value=inner, slice=index):
            return _value(inner, module)[_value(index, module)]
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return tuple(_value(item, module) for item in items)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_value(inner, module)
        case ast.BinOp(left=left, op=op, right=right):
            return _binary(op, _value(left, module), _value(right, module))
        case ast.Call(func=function, args=args, keywords=keywords):
            words = {word.arg or "**": word.value for word in keywords}
            if "**" not in words:
                return _value(function, module)(
                    *(_value(argument, module) for argument in args),
                    **{w: _value(value, module) for w, value in words.items()},
                )
    raise ExpressionError(
        "compute",
        ast.unparse(node),
        "names, attributes, items, calls, constants and arithmetic",
    )


def _member(owner: Any, name: str) -> Any:
    """Return a public attribute that is not itself a module."""
    value = None
    known = not name.startswith("_") and hasattr(owner, name)
    if known:
        value = getattr(owner, name)
    if not known or isinstance(value, ModuleType):
        where = getattr(owner, "__name__", type(owner).__name__)
        raise ExpressionError("compute", name, f"a public name of {where}")
    return value


def _binary(op: ast.operator, left: Any, right: Any) -> Any:
    """Return the result of one arithmetic operation on numbers."""
    function = _BINARY.get(type(op))
    numbers = all(isinstance(side, (int, float)) for side in (left, right))
    if function is None or not numbers:
        raise ExpressionError(
            "compute", f"{type(op).__name__} of {left!r}, {right!r}", "numbers"
        )
    if isinstance(op, ast.Pow) and abs(right) > _MAX_EXPONENT:
        raise ExpressionError("compute", right, f"a power <= {_MAX_EXPONENT}")
    return function(left, right)
