"""Python's search for reference cycles, in a process that has started and goes on for months."""

import gc

# New containers until the youngest are looked through; and how often those, until older ones are.
FEW = (10_000, 20, 20)


def settle() -> None:
    """What was loaded until now is looked through no more, and what came since more seldom. Only cycles wait for it:
    all else goes when its last reference does."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*FEW)
