"""One installation with a small history and one browser for all tests of pages in a process."""

import json
import secrets
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.databases import Databases
from tests.processes import TestStack
from tools.browser import console_pages, desk_pages, judge, session
from tools.browser.desk_pages import DeskRows, Where
from tools.browser.session import NoBrowser, Watched
from tools.children import ChildFailed
from tools.run import HISTORY_KEY

NAME = "operator"


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """An installation and its operator; `key` is the secret of its history's key, once there is a history."""

    stack: TestStack
    sandbox_url: str
    database: Path
    password: str
    key: str = ""

    @property
    def rows(self) -> DeskRows:
        return DeskRows(database=self.database)

    def add_operator(self) -> None:
        self.stack.manage(
            "createsuperuser",
            "--noinput",
            f"--username={NAME}",
            "--email=operator@localhost.invalid",
            DJANGO_SUPERUSER_PASSWORD=self.password,
        )

    def seed(self, *arguments: str) -> "Desk":
        """With a history. Raises ChildFailed."""
        answer = self.stack.python("-m", "tools.seed", "--sandbox-url", self.sandbox_url, *arguments)
        if answer.returncode:
            raise ChildFailed(answer.stderr[-4000:])
        return replace(self, key=json.loads(answer.stdout)["keys"][HISTORY_KEY])

    def work(self) -> None:
        """Start a worker, unless one runs: the tests of an installation share it."""
        if not any(child.name == "worker" for child in self.stack.children):
            self.stack.start_worker()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    try:
        with session.browser() as running:
            yield running
    except NoBrowser as nothing:
        pytest.skip(str(nothing))


@pytest.fixture(scope="session")
def installation(browser: Browser, databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """With an operator and without tasks; web and sandbox run."""
    folder = tmp_path_factory.mktemp("pages")
    with databases.fresh() as url:
        stack = TestStack(database_url=url, folder=folder)
        sandbox = stack.start_sandbox()
        desk = Desk(
            stack=stack,
            sandbox_url=sandbox.url,
            database=Path(url.removeprefix("sqlite:///")),
            password=secrets.token_urlsafe(12),
        )
        desk.add_operator()
        stack.start_web()
        yield desk
        stack.stop()


@pytest.fixture(scope="session")
def operator(browser: Browser, installation: Desk) -> Iterator[Watched]:
    """A page of an operator who has signed in."""
    own = session.context(browser, installation.stack.base_url, width=session.PHONE, scheme="dark")
    page = session.watched(own)
    session.sign_in(page.page, NAME, installation.password)
    yield page
    own.close()


def found_at_once(watched: Watched, pages: Mapping[str, Where], rows: DeskRows) -> dict[str, list[str]]:
    """What is wrong with those pages that are there, by their names."""
    found = {}
    for name, where in pages.items():
        with suppress(LookupError):
            found[name] = judge.first_problems(watched, where(rows))
    return found


@pytest.fixture(scope="session")
def empty(installation: Desk, operator: Watched) -> dict[str, list[str]]:
    """Of the desk before there is any row."""
    return found_at_once(operator, desk_pages.PAGES, installation.rows)


@pytest.fixture(scope="session")
def empty_console(browser: Browser, installation: Desk, empty: dict[str, list[str]]) -> dict[str, list[str]]:
    """Of the console of a new key before there is any model or task. The desk was looked at before that."""
    own = session.context(browser, installation.stack.base_url, width=session.PHONE, scheme="dark")
    page = session.watched(own)
    session.present(page.page, installation.stack.create_key(account="newcomer"))
    found = found_at_once(page, console_pages.PAGES, installation.rows)
    own.close()
    return found


@pytest.fixture(scope="session")
def seeded(installation: Desk, empty: dict[str, list[str]], empty_console: dict[str, list[str]]) -> Desk:
    """With a history of three days. Its pages were looked at before that."""
    return installation.seed("--days", "3", "--tasks", "80", "--pictures", "6")


@pytest.fixture(scope="session")
def customer(browser: Browser, seeded: Desk) -> Iterator[Watched]:
    """A page of a customer who has signed in with the history's key."""
    own = session.context(browser, seeded.stack.base_url, width=session.PHONE, scheme="dark")
    page = session.watched(own)
    session.present(page.page, seeded.key)
    yield page
    own.close()
