"""How many connections the descriptors of this process allow."""

import resource
from contextlib import suppress
from dataclasses import dataclass

# For what is no connection of a client: database, logs, storage, temporary files, and connections that are turned away.
SPARE = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class DescriptorPlan:
    """The soft limit to set, and the connections that it allows."""

    limit: int
    connections: int


def plan(wanted: int, *, soft: int, hard: int) -> DescriptorPlan:
    """A connection may also hold a file: so the limit is raised, where the system lets us, until each may."""
    best = 2 * wanted + SPARE
    reachable = best if hard == resource.RLIM_INFINITY else min(best, hard)
    limit = soft if soft == resource.RLIM_INFINITY else max(soft, reachable)
    if limit == resource.RLIM_INFINITY:
        return DescriptorPlan(limit=limit, connections=wanted)
    return DescriptorPlan(limit=limit, connections=max(min(wanted, limit - SPARE), 1))


def reserve(wanted: int) -> int:
    """Raise the limit of this process where it must be, and say how many of the wanted connections it may take."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    chosen = plan(wanted, soft=soft, hard=hard)
    with suppress(ValueError, OSError):  # some systems name a hard limit that they do not grant
        resource.setrlimit(resource.RLIMIT_NOFILE, (chosen.limit, hard))
        return chosen.connections
    return plan(wanted, soft=soft, hard=soft).connections
