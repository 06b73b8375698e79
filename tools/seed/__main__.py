"""`python -m tools.seed`: fills an installation without tasks; what it takes says `--help`."""

import importlib
import os
import sys

import django

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    # Only now: models cannot be imported before Django is set up.
    sys.exit(importlib.import_module("tools.seed.command").main(sys.argv[1:]))
