"""Root of the test runs: notebooks are compared as numbers."""

from bookcheck.nbval_plugin import (
    pytest_configure,
    pytest_itemcollected,
    pytest_unconfigure,
)

__all__ = ["pytest_configure", "pytest_itemcollected", "pytest_unconfigure"]
