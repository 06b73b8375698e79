"""`make screenshots`: every page of desk and console, empty and full, on three widths, in the light and in the dark.

It starts an installation of its own with a month of history, and writes the folders desk and console in
var/screenshots/; the widest light ones are desk-<page>.png and console-<page>.png beside them. With `--check` it also
tells what is wrong with each page, and with `--documents` it renews the pictures that documents show. Names limit it to
these: `python -m tools.screenshots desk/now console/task`.
"""

import argparse
import json
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser

from tools import demo, write_env
from tools.browser import session, shots
from tools.browser.desk_pages import DeskRows
from tools.browser.session import NoBrowser, Watched
from tools.browser.shots import CONSOLE, DESK, ROOMS, PageRoom
from tools.children import ChildFailed, wait_until
from tools.run import HISTORY_KEY
from tools.stack import CATALOG, ROOT, Stack

PICTURES = ROOT / "var/screenshots"
SHOWN_BY_DOCUMENTS = ROOT / "docs/images"
NAME = "operator"


@dataclass(frozen=True, slots=True, kw_only=True)
class Album:
    """Where pictures go, and of which pages: all that are kept where no name is given."""

    rows: DeskRows
    folder: Path
    names: Collection[str]

    def fill(self, watched: Watched, room: PageRoom, *, is_empty: bool) -> None:
        pages = room.chosen(self.names, room.empty if is_empty else room.full)
        shots.shoot(watched, room.name, pages, self.rows, self.folder, suffix="-empty" if is_empty else "")


def begin(stack: Stack) -> tuple[str, str]:
    """An installation without rows, its web process, and the sandbox; the operator's password, the sandbox's origin."""
    stack.manage("migrate", "--noinput")
    password = secrets.token_urlsafe(12)
    stack.manage(
        "createsuperuser",
        "--noinput",
        f"--username={NAME}",
        "--email=operator@localhost.invalid",
        DJANGO_SUPERUSER_PASSWORD=password,
    )
    sandbox = stack.start_sandbox()
    stack.start_web()
    return password, sandbox.url


def new_key(stack: Stack) -> str:
    """The secret of a key that has made nothing."""
    stack.manage("create_account", "newcomer", "--credit", "10")
    return str(stack.manage_json("create_key", "newcomer")["key"])


def history(stack: Stack, sandbox_url: str, rows: DeskRows) -> str:
    """A month of it, and a worker; the secret of its key. Raises ChildFailed."""
    stack.manage("load_catalog", str(CATALOG), SANDBOX_URL=sandbox_url)
    answer = stack.python("-m", "tools.seed", "--sandbox-url", sandbox_url)
    if answer.returncode:
        raise ChildFailed(answer.stderr[-4000:])
    stack.start_worker()
    wait_until(rows.has_worker, what="a worker")
    return str(json.loads(answer.stdout)["keys"][HISTORY_KEY])


def customer(running: Browser, stack: Stack, key: str) -> Watched:
    """A page in the console, signed in."""
    watched = session.watched(session.context(running, stack.base_url))
    session.present(watched.page, key)
    return watched


def run(stack: Stack, album: Album, *, is_checked: bool) -> None:
    """The desk is seen before the first key, the console before the first model, then both with a history."""
    password, sandbox_url = begin(stack)
    with session.browser() as running:
        operator = session.watched(session.context(running, stack.base_url))
        session.sign_in(operator.page, NAME, password)
        album.fill(operator, DESK, is_empty=True)
        album.fill(customer(running, stack, new_key(stack)), CONSOLE, is_empty=True)
        key = history(stack, sandbox_url, album.rows)
        for room, watched in ((DESK, operator), (CONSOLE, customer(running, stack, key))):
            album.fill(watched, room, is_empty=False)
            if is_checked:
                shots.check(watched, room.chosen(album.names, room.full), album.rows)


def renew(folder: Path, shown: Path = SHOWN_BY_DOCUMENTS) -> None:
    """Copy those of which documents show an older one."""
    for old in shown.glob("*.png"):
        if (new := folder / old.name).exists():
            shutil.copyfile(new, old)


def main(arguments: Sequence[str]) -> int:
    known = [f"{room.name}/{name}" for room in ROOMS for name in room.pages]
    parser = argparse.ArgumentParser(prog="python -m tools.screenshots", description=__doc__)
    parser.add_argument("pages", nargs="*", metavar="PAGE", help=f"only these of {', '.join(known)}")
    parser.add_argument("--folder", type=Path, default=PICTURES, help="where the pictures go")
    parser.add_argument("--documents", action="store_true", help="also renew those that documents show")
    parser.add_argument("--check", action="store_true", help="also tell what is wrong with each page")
    given = parser.parse_args(arguments)
    if strange := set(given.pages) - set(known):
        parser.error(f"no such page: {', '.join(sorted(strange))}")
    write_env.write()
    with tempfile.TemporaryDirectory(prefix="darkroom-pages-") as name:
        place = Path(name)
        stack = Stack(environment={**os.environ, **demo.environment(place)}, folder=place)
        rows = DeskRows(database=place / "darkroom.sqlite3")
        try:
            run(stack, Album(rows=rows, folder=given.folder, names=set(given.pages)), is_checked=given.check)
            if given.documents:
                renew(given.folder)
        except (ChildFailed, NoBrowser) as error:
            print(error, file=sys.stderr)
            return 1
        finally:
            stack.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
