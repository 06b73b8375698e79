"""Claims queued tasks without running them: `python -P claimer.py`, in the measured tree with its interpreter.

Prints `ready`. Each input line is a number of free slots; the answer has the seconds that the claim took and
time.monotonic() right after its commit.
"""

import os
import sys
import time


def main() -> None:
    sys.path.insert(0, os.getcwd())
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django  # noqa: PLC0415 (the tree is known only now)

    django.setup()
    from tasks import leases  # noqa: PLC0415
    from tasks.claims import queue  # noqa: PLC0415

    worker_id = leases.register(["tasks"])
    print("ready", flush=True)
    for line in sys.stdin:
        started = time.monotonic()
        queue.claim(worker_id, seats=int(line))
        ended = time.monotonic()
        print(ended - started, ended, flush=True)


if __name__ == "__main__":
    main()
