"""The settings of a front with a few views that a front is hard on."""

from config.settings import *  # noqa: F403

ROOT_URLCONF = "tests.front.urls"
