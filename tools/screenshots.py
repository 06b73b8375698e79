"""`make screenshots`: every page of the desk, empty and full, on three widths, in the light and in the dark.

It starts an installation of its own with a month of history, and writes docs/images/desk/ anew; the widest light ones
are docs/images/desk-<page>.png. With `--check` it also tells what is wrong with each page. Names of pages limit it
to these: `python -m tools.screenshots task now --folder /somewhere`.
"""

import argparse
import os
import secrets
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page

from tools import demo, write_env
from tools.browser import judge, session
from tools.browser.desk_pages import PAGES, Rows, Where
from tools.browser.session import DESKTOP, PHONE, TABLET, NoBrowser, Watched
from tools.children import ChildFailed, wait_until
from tools.stack import CATALOG, ROOT, Stack

IMAGES = ROOT / "docs/images"
NAME = "operator"
COLOURS = 96
"""Of a kept picture: pages have few, and it is a third of the bytes."""
FULL = (
    *(
        "now",
        "tasks",
        "task",
        "task-film",
        "task-refund",
        "unknown",
        "callbacks",
        "callback",
        "models",
        "model",
        "plan",
    ),
    *("channels", "channel", "channel-model", "channel-test", "account", "statement", "key", "money", "bill"),
    "catalog-file",
)
EMPTY = (
    *("now", "tasks", "unknown", "callbacks", "models", "plans", "channels", "accounts", "keys", "money", "bills"),
    "catalog-file",
)
"""Pages whose pictures are kept with and without rows."""


def keep(page: Page, file: Path) -> None:
    """What the page shows now, as a small PNG."""
    shot = Image.open(BytesIO(page.screenshot(animations="disabled", caret="hide")))
    file.parent.mkdir(parents=True, exist_ok=True)
    shot.convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        file, optimize=True
    )


def shoot(watched: Watched, pages: Mapping[str, Where], rows: Rows, folder: Path, *, suffix: str = "") -> None:
    """Each page in each size and colour; one that needs a row that is not there is left out."""
    for name, where in pages.items():
        try:
            path = where(rows)
        except LookupError:
            continue
        watched.page.goto(path)
        for width in (PHONE, TABLET, DESKTOP):
            for scheme in ("light", "dark"):
                judge.look(watched.page, width, scheme)
                is_best = (width, scheme, suffix) == (DESKTOP, "light", "")
                file = f"desk-{name}.png" if is_best else f"desk/{name}{suffix}-{width}-{scheme}.png"
                keep(watched.page, folder / file)


def check(watched: Watched, pages: Mapping[str, Where], rows: Rows) -> None:
    for name, where in pages.items():
        print(f"{name}: {where(rows)}")
        for problem in judge.problems(watched, where(rows)):
            print(f"  {problem}")


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


def history(stack: Stack, sandbox_url: str, rows: Rows) -> None:
    """A month of it, and a worker. Raises ChildFailed."""
    stack.manage("load_catalog", str(CATALOG), SANDBOX_URL=sandbox_url)
    answer = stack.python("-m", "tools.seed", "--sandbox-url", sandbox_url)
    if answer.returncode:
        raise ChildFailed(answer.stderr[-4000:])
    stack.start_worker()
    wait_until(rows.has_worker, what="a worker")


def run(stack: Stack, database: Path, names: Iterable[str], folder: Path, *, is_checked: bool) -> None:
    chosen = set(names)
    empty, full = ({name: PAGES[name] for name in chosen or kept} for kept in (EMPTY, FULL))
    password, sandbox_url = begin(stack)
    rows = Rows(database=database)
    with session.browser() as running:
        own = session.context(running, stack.base_url)
        watched = session.watched(own)
        session.sign_in(watched.page, NAME, password)
        shoot(watched, empty, rows, folder, suffix="-empty")
        history(stack, sandbox_url, rows)
        shoot(watched, full, rows, folder)
        if is_checked:
            check(watched, full, rows)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.screenshots", description=__doc__)
    parser.add_argument("pages", nargs="*", metavar="PAGE", help=f"only these of {', '.join(PAGES)}")
    parser.add_argument("--folder", type=Path, default=IMAGES, help="where the pictures go")
    parser.add_argument("--check", action="store_true", help="also tell what is wrong with each page")
    given = parser.parse_args(arguments)
    if strange := set(given.pages) - set(PAGES):
        parser.error(f"no such page: {', '.join(sorted(strange))}")
    write_env.write()
    with tempfile.TemporaryDirectory(prefix="darkroom-pages-") as name:
        place = Path(name)
        stack = Stack(environment={**os.environ, **demo.environment(place)}, folder=place)
        try:
            database = place / "darkroom.sqlite3"
            run(stack, database, given.pages, given.folder, is_checked=given.check)
        except (ChildFailed, NoBrowser) as error:
            print(error, file=sys.stderr)
            return 1
        finally:
            stack.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
