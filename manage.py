#!/usr/bin/env python
"""Command line of Darkroom."""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if sys.argv[1:2] == ["version"]:
        from config import version_command

        sys.exit(version_command.main(sys.argv[2:]))
    execute_from_command_line(sys.argv)
