"""Root of the test runs: outputs compared as numbers, skips with a reason."""

pytest_plugins = ["bookcheck.nbval_plugin", "strict_skips"]
