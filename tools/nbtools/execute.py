"""Run a whole notebook in a fresh kernel and measure what it took."""

from __future__ import annotations

import copy
import re
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import ipykernel.kernelspec
import psutil
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import (
    CellExecutionError,
    CellTimeoutError,
    DeadKernelError,
)
from nbformat import NotebookNode

from nbtools.environment import kernel_environment
from nbtools.normal import (
    IGNORING_TAGS,
    RAISES_TAG,
    NotebookError,
    normalise,
    source_stamp,
    tags,
)

CELL_TIMEOUT_S = 60
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Run:
    """A notebook with fresh outputs, and what the run cost."""

    notebook: NotebookNode
    wall_s: float
    peak_bytes: int


class _CurrentEnvironment(KernelSpecManager):
    """Offers one kernel: this interpreter, whatever the user installed."""

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        return KernelSpec(
            resource_dir=ipykernel.kernelspec.RESOURCES,
            **ipykernel.kernelspec.get_kernel_dict(),
        )


class PeakMemory:
    """Sample the resident memory of a process and its children.

    Attributes:
        peak_bytes: Largest sum seen so far.
    """

    def __init__(self, pid: int, interval_s: float = 0.1) -> None:
        self.peak_bytes = 0
        self._process = psutil.Process(pid)
        self._interval_s = interval_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(self._interval_s):
            self.peak_bytes = max(self.peak_bytes, self._resident())

    def _resident(self) -> int:
        """Return the bytes resident now; a process that ended has none."""
        total = 0
        try:
            family = [
                self._process,
                *self._process.children(recursive=True),
            ]
        except psutil.NoSuchProcess:
            return 0
        for member in family:
            try:
                total += member.memory_info().rss
            except psutil.NoSuchProcess:
                continue
        return total


def execute(
    notebook: NotebookNode, folder: Path, *, refresh: bool = False
) -> Run:
    """Run every code cell of a notebook in a fresh kernel.

    Args:
        notebook: The notebook; it is not changed.
        folder: Working folder of the kernel: the notebook's own.
        refresh: Replace the outputs of ignored cells too. Otherwise an
            ignored cell keeps its stored output while its source is what
            it was when that output was made.

    Raises:
        NotebookError: A cell failed, ran out of time, or was expected to
            raise and did not. The message shows the cell.
    """
    fresh = normalise(notebook)
    for cell in fresh.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as ipython_dir:
        peak_bytes = _run_cells(fresh, folder, ipython_dir)
    wall_s = time.perf_counter() - start
    _restore_ignored(fresh, normalise(notebook), refresh)
    return Run(normalise(fresh), wall_s, peak_bytes)


def _run_cells(fresh: NotebookNode, folder: Path, ipython_dir: str) -> int:
    """Fill in the outputs, in place; return the peak memory in bytes."""
    manager = AsyncKernelManager(
        kernel_name="python3", kernel_spec_manager=_CurrentEnvironment()
    )
    client = NotebookClient(
        fresh,
        km=manager,
        timeout=CELL_TIMEOUT_S,
        record_timing=False,
        coalesce_streams=True,
        interrupt_on_timeout=False,
    )
    log = Path(ipython_dir, "kernel.log")
    options = {"env": kernel_environment(ipython_dir), "cwd": str(folder)}
    with log.open("w") as stderr, client.setup_kernel(stderr=stderr, **options):
        pid = getattr(manager.provisioner, "pid", None)
        if pid is None:
            raise NotebookError("the kernel has no process id")
        with PeakMemory(pid) as memory:
            for index, cell in enumerate(fresh.cells):
                _run_cell(client, cell, index)
    return memory.peak_bytes


def _run_cell(client: NotebookClient, cell: NotebookNode, index: int) -> None:
    """Run one cell as nbval does: without history, so ``_`` is not set."""
    if cell.cell_type != "code":
        return
    try:
        client.execute_cell(cell, index, store_history=False)
    except CellTimeoutError:
        reason = f"not finished after {CELL_TIMEOUT_S} s"
    except DeadKernelError:
        reason = "the kernel died"
    except CellExecutionError as error:
        reason = _ANSI.sub("", error.traceback or str(error)).strip()
    else:
        failed = any(out.output_type == "error" for out in cell.outputs)
        if failed or RAISES_TAG not in tags(cell):
            # nbval reads "None" as "never run"; any number will do here.
            cell.execution_count = index + 1
            return
        reason = f"tagged {RAISES_TAG}, but it raised nothing"
    raise NotebookError(f"cell {index} ({cell.id}):\n{cell.source}\n\n{reason}")


def _restore_ignored(
    fresh: NotebookNode, stored: NotebookNode, refresh: bool
) -> None:
    """Give ignored cells back the outputs they had, where still theirs."""
    before = {cell.id: cell for cell in stored.cells}
    for cell in fresh.cells:
        if cell.cell_type != "code":
            continue
        ours = cell.metadata.setdefault("cutaway", NotebookNode())
        ours.pop("source", None)
        if not IGNORING_TAGS.intersection(tags(cell)):
            continue
        stamp = source_stamp(cell)
        old = before[cell.id]
        same = old.metadata.get("cutaway", {}).get("source") == stamp
        if same and old.execution_count and not refresh:
            cell.outputs = copy.deepcopy(old.outputs)
        ours["source"] = stamp
