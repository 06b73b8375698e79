"""The settings of a web process whose requests have time: a test says how long it holds a lock."""

from common.database import time_limits
from common.database.time_limits import TimeLimits
from config.settings import *  # noqa: F403

time_limits.WEB = TimeLimits(statement=3600.0, lock=3600.0, silence=3600.0, answer=3600.0)
