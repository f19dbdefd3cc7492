"""The environment that every kernel of the book runs in.

Two runs of a chapter can only agree if threads and hash seed agree: with
float32 through 30 layers, one and two threads already differ by 3e-5.
``nb.py run`` and nbval (through the root ``conftest.py``) both use this.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType

THREADS = "2"

PINNED: Mapping[str, str] = MappingProxyType(
    {
        "OMP_NUM_THREADS": THREADS,
        "MKL_NUM_THREADS": THREADS,
        "OPENBLAS_NUM_THREADS": THREADS,
        "NUMEXPR_NUM_THREADS": THREADS,
        "VECLIB_MAXIMUM_THREADS": THREADS,
        "NUMBA_NUM_THREADS": THREADS,
        "OMP_DYNAMIC": "FALSE",
        # A waiting thread of GNU OpenMP spins for 300,000 rounds: on a busy
        # machine that slows a pass tenfold. 1,000 cost a tenth when quiet.
        "GOMP_SPINCOUNT": "1000",
        "MKL_DYNAMIC": "FALSE",
        "PYTHONHASHSEED": "0",
        "CUTAWAY_PROGRESS": "off",
        "TOKENIZERS_PARALLELISM": "false",
        "HF_HUB_OFFLINE": "1",
        "COLUMNS": "80",
    }
)
"""Variables of a kernel's environment. torch takes its number of threads
from ``OMP_NUM_THREADS`` and ``MKL_NUM_THREADS`` when it is imported."""


def kernel_environment(ipython_dir: str) -> dict[str, str]:
    """Return the environment for a kernel: this process's, with the pins.

    Args:
        ipython_dir: An empty folder in place of the user's IPython
            profile, whose start-up files could change what a cell prints.
    """
    return {**os.environ, **PINNED, "IPYTHONDIR": ipython_dir}
