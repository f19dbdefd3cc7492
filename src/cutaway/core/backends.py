"""One operation, several implementations: how the right one is found."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import ModuleType

from cutaway.core.checks import check_choice

IMPLS = ("numpy", "torch")


@cache
def backend(package: str, impl: str) -> ModuleType:
    """Return the module of ``package`` that holds the implementation.

    The module is imported on first use, so that a reader who asks for
    NumPy never loads torch.

    Args:
        package: Dotted name of the package with ``_numpy`` and ``_torch``.
        impl: Which implementation; there is no "auto", so that a reader
            always knows what ran.

    Raises:
        ArgumentError: The implementation is unknown.

    >>> backend("cutaway.layers", "numpy").__name__
    'cutaway.layers._numpy'
    """
    check_choice("impl", impl, IMPLS)
    return import_module(f"{package}._{impl}")
