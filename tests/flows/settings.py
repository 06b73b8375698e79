"""The settings of an installation that waits for receivers of callbacks, however busy their machine is."""

from config.settings import *  # noqa: F403
from config.settings import INSTALLED_APPS as OURS

INSTALLED_APPS = [*OURS, "tests.flows.patience.Patience"]
