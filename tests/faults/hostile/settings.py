"""The settings of an installation whose name server is silent on most of `.example`."""

from config.settings import *  # noqa: F403
from config.settings import INSTALLED_APPS as OURS

INSTALLED_APPS = [*OURS, "tests.faults.hostile.names.Names"]
