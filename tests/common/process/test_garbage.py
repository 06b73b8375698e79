"""The web process's habits with reference cycles, in a process of its own: it also starts threads that stay."""

import json
import os
import subprocess
import sys

from tests.databases import database_url
from tools.stack import ROOT

BEGIN = """
import gc, json, runpy
from types import SimpleNamespace
import django
django.setup()
before = gc.get_freeze_count()
runpy.run_path("config/gunicorn.py")["post_worker_init"](SimpleNamespace(alive=True))
print(json.dumps([gc.get_freeze_count() - before, gc.isenabled(), gc.get_threshold()[0]]))
"""


def test_a_web_process_never_looks_again_through_what_it_has_loaded(db):
    environment = {**os.environ, "DATABASE_URL": database_url()}
    told = subprocess.check_output([sys.executable, "-c", BEGIN], cwd=ROOT, env=environment)
    frozen, is_enabled, threshold = json.loads(told)
    assert frozen > 10_000
    assert is_enabled
    assert threshold > 1_000
