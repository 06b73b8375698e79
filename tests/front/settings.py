"""The settings of a front that has time, whose heartbeats come quickly, with a few views that a front is hard on."""

from common.http import front_body
from config.settings import *  # noqa: F403
from front.server import places
from tasks import swallowed_counts

ROOT_URLCONF = "tests.front.urls"
SSE_HEARTBEAT = 0.1
front_body.DRAIN_SECONDS = places.HEAD_SECONDS = 3600.0
swallowed_counts.FLUSH_SECONDS = 0.1
