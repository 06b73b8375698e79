"""The settings of a front without patience for half a head; `--keep-alive 1` does the same for idle connections."""

from front.server import places
from tests.front.settings import *  # noqa: F403

places.HEAD_SECONDS = 1.0
