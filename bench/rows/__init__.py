"""The rows, one module for each kind. Modules list theirs in ROWS; they run in the order of module names."""

import importlib
import pkgutil

from bench.model import BenchRow


def every() -> list[BenchRow]:
    """Returns all rows. Raises ValueError if a name occurs twice."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    found = [row for name in names for row in importlib.import_module(f"{__name__}.{name}").ROWS]
    if len({row.name for row in found}) != len(found):
        raise ValueError("two rows have the same name")
    return found
