"""The dispatch finds one implementation and names the known ones."""

from __future__ import annotations

import pytest

from cutaway.core import ArgumentError
from cutaway.core.backends import IMPLS, backend


@pytest.mark.parametrize("impl", IMPLS)
@pytest.mark.parametrize(
    "package", ["cutaway.layers", "cutaway.attention.dense"]
)
def test_every_package_offers_the_same_functions_in_each_backend(package, impl):
    def functions(name):
        module = backend(package, name)
        return {
            key
            for key, value in vars(module).items()
            if callable(value)
            and getattr(value, "__module__", "") == module.__name__
            and not key.startswith("_")
        }

    assert functions(impl) == functions("numpy")
    assert functions(impl)


def test_an_unknown_backend_is_refused_each_time():
    for _ in range(2):
        with pytest.raises(ArgumentError, match="one of 'numpy', 'torch'"):
            backend("cutaway.layers", "auto")
