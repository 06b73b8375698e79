"""Measures the CPU seconds of a process and all its descendants, including ended ones that were waited for. Linux
only."""

import os
from collections import defaultdict
from pathlib import Path

from bench.model import Missing

TICKS = os.sysconf("SC_CLK_TCK")


def fields(pid: int) -> list[str]:
    """Returns /proc/<pid>/stat from after the command's name: state, parent, …; empty if the process is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def tree(pid: int) -> list[int]:
    """Returns the process and its living descendants."""
    children: dict[int, list[int]] = defaultdict(list)
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (found := fields(int(entry.name))):
            children[int(found[1])].append(int(entry.name))
    found_pids, waiting = [], [pid]
    while waiting:
        found_pids.append(waiting.pop())
        waiting += children[found_pids[-1]]
    return found_pids


def seconds(pid: int | None) -> float:
    """Returns user and system seconds together; 0 for None. Raises Missing where the system does not report them."""
    if pid is None:
        return 0.0
    if not Path("/proc/self/stat").exists():
        raise Missing("/proc")
    return sum(sum(map(int, found[11:15])) for one in tree(pid) if (found := fields(one))) / TICKS


def resident_mb(pid: int) -> float:
    """Returns the resident memory of the process and its descendants in MB; shared pages count for each."""
    pages = sum(int(found[21]) for one in tree(pid) if (found := fields(one)))
    return pages * os.sysconf("SC_PAGE_SIZE") / 1_000_000
