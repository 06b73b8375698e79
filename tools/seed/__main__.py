"""`python -m tools.seed`: fills an installation without tasks; see `--help`."""

import importlib
import os
import sys

import django

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    # Imported here: models need Django to be set up.
    sys.exit(importlib.import_module("tools.seed.command").main(sys.argv[1:]))
