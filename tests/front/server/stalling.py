"""The settings of a front without patience for clients that do not take their answer."""

from front.server import places
from tests.front.settings import *  # noqa: F403

places.STALL_SECONDS = 1.0
