"""Claims queued tasks without running them: `python -P claimer.py`, in the measured tree and with its interpreter.

It prints `ready`; each line names how many seats are free, and is answered with the seconds that the claim took and the
moment of time.monotonic right after its commit.
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
