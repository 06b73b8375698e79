"""Installs an adapter as an operator's own package would be: a module and an entry point, in a folder on PYTHONPATH.
Any checkout of the service can load it."""

from pathlib import Path
from shutil import copy

MODULE = Path(__file__).with_name("instant_adapter.py")


def install(folder: Path) -> Path:
    """Writes the package below the folder; returns the path for PYTHONPATH."""
    place = folder / "plugin"
    about = place / "instant_adapter-1.dist-info"
    about.mkdir(parents=True, exist_ok=True)
    copy(MODULE, place)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: instant-adapter\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[darkroom.adapters]\nbench_instant = instant_adapter:Instant\n")
    return place
