"""Runs several management commands in one process: to start Django takes longer than most of them.

The argument is a JSON list of their arguments. Each prints what it said as a line of JSON; the first that fails ends
the process with its exit code, and has told why on stderr.
"""

import json
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from io import StringIO

from django.core.management import execute_from_command_line


def run(arguments: Sequence[str]) -> str:
    """What the command writes to stdout. Raises SystemExit where it fails."""
    with redirect_stdout(StringIO()) as output:
        try:
            execute_from_command_line(["manage.py", *arguments])
        except SystemExit as end:
            if end.code:
                sys.stderr.write(output.getvalue())
                raise
    return output.getvalue()


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    for command in json.loads(sys.argv[1]):
        print(json.dumps(run(command)), flush=True)
