"""The measurement: exact under a fake clock, plausible under the real."""

from __future__ import annotations

import subprocess
import sys

import pytest

from cutaway.core import CutawayError
from cutaway.roofline import (
    best_rate,
    measure_hardware,
    physical_memory_bytes,
)


class Clock:
    """Advances by the next of some steps at every second reading."""

    def __init__(self, *steps):
        self.steps, self.now, self.reads = steps, 0.0, 0

    def __call__(self):
        if self.reads % 2:
            self.now += self.steps[(self.reads // 2) % len(self.steps)]
        self.reads += 1
        return self.now


def test_the_best_run_counts_and_the_first_is_not_timed():
    runs = []
    clock = Clock(4.0, 2.0, 5.0)
    rate = best_rate(lambda: runs.append(1), 10, seconds=1.0, clock=clock)
    assert rate == 5.0
    assert len(runs) == 4


def test_runs_repeat_until_the_time_is_spent():
    runs = []
    best_rate(lambda: runs.append(1), 1, seconds=10.0, clock=Clock(1.0))
    assert len(runs) == 11


def test_a_clock_that_stands_still_is_refused():
    with pytest.raises(CutawayError, match="clock"):
        best_rate(list, 1, seconds=1.0, clock=lambda: 7.0)


def test_figures_follow_from_the_clock():
    machine = measure_hardware(
        seconds=1.0,
        array_bytes=4096,
        matrix_size=32,
        clock=Clock(0.5),
        num_threads=1,
    )
    assert machine.bandwidth_bytes_per_s == 4096 / 0.5
    assert machine.peak("float32") == 2 * 32**3 / 0.5
    assert machine.name == "this machine (1 thread)"
    assert machine.memory_bytes == physical_memory_bytes()


def test_the_thread_count_is_used_and_restored():
    import torch

    before = torch.get_num_threads()
    machine = measure_hardware(
        seconds=0.001, array_bytes=4096, matrix_size=8, num_threads=3
    )
    assert "3 threads" in machine.name
    assert torch.get_num_threads() == before
    with pytest.raises(CutawayError, match="clock"):
        measure_hardware(
            seconds=0.001,
            array_bytes=4096,
            matrix_size=8,
            num_threads=3,
            clock=lambda: 0.0,
        )
    assert torch.get_num_threads() == before


def test_this_machine_is_plausible():
    machine = measure_hardware(seconds=0.2, array_bytes=2**27)
    # From a slow virtual machine to a large server, in bytes and FLOP/s.
    assert 5e8 < machine.bandwidth_bytes_per_s < 5e12
    assert 1e9 < machine.peak("float32") < 1e14
    assert machine.source == "measured here"


@pytest.mark.parametrize(
    "options",
    [
        {"seconds": 0},
        {"num_threads": 0},
        {"array_bytes": 3},
        {"matrix_size": 0},
    ],
)
def test_bad_arguments_are_named(options):
    with pytest.raises(CutawayError, match=next(iter(options))):
        measure_hardware(**options)


def test_the_area_is_imported_without_torch():
    code = "import sys, cutaway.roofline; sys.exit('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == 0
