"""Buys pictures with `requests` alone and writes each to a file, as the reference for a worker's CPU per task.

`python bare_requests.py URL FOLDER` prints the number of calls, their seconds and their CPU seconds.
"""

import base64
import sys
import time
from pathlib import Path

import requests

CALLS = 300
WARM = 20


def buy(url: str, file: Path) -> None:
    answer = requests.post(url, json={"model": "gpt-image-2", "prompt": "a fox " + "p" * 600, "n": 1}, timeout=60)
    answer.raise_for_status()
    file.write_bytes(base64.b64decode(answer.json()["data"][0]["b64_json"]))


def main() -> None:
    url, folder = sys.argv[1], Path(sys.argv[2])
    for number in range(WARM):
        buy(url, folder / f"warm-{number}.png")
    started, cpu = time.monotonic(), time.process_time()
    for number in range(CALLS):
        buy(url, folder / f"{number}.png")
    print(CALLS, time.monotonic() - started, time.process_time() - cpu)


if __name__ == "__main__":
    main()
