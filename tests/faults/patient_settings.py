"""The settings of a web process whose requests have time: a test says how long it holds a lock."""

from common.database import query_deadline
from config.settings import *  # noqa: F403

query_deadline.SECONDS = 3600.0
