"""The end of a process that may have connections."""

import os
import subprocess
import sys

import pytest

from tools.stack import ROOT

WEB_SERVER = "import config.gunicorn"
WITH_DJANGO = "import django; django.setup(); from django.db import connection; connection.ensure_connection()"


@pytest.mark.once
@pytest.mark.parametrize(
    ("code", "settings"), [(WEB_SERVER, {}), (WITH_DJANGO, {"DJANGO_SETTINGS_MODULE": "config.settings"})]
)
def test_a_process_ends_without_a_word_whether_it_has_set_django_up_or_not(code, settings):
    given = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    own = {"DATABASE_URL": "sqlite://:memory:", **settings}
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env={**given, **own}, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
