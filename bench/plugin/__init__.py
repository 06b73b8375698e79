"""The package of an adapter of our own, as an operator would install it: a module and an entry point, in a folder that
PYTHONPATH names. So any checkout of the service takes it, as it is."""

from pathlib import Path
from shutil import copy

MODULE = Path(__file__).with_name("instant_adapter.py")


def install(folder: Path) -> Path:
    """Lay the package out below the folder; returns what PYTHONPATH must name."""
    place = folder / "plugin"
    about = place / "instant_adapter-1.dist-info"
    about.mkdir(parents=True, exist_ok=True)
    copy(MODULE, place)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: instant-adapter\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[darkroom.adapters]\nbench_instant = instant_adapter:Instant\n")
    return place
