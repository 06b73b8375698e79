"""One installation with a small history and one browser for all tests of pages in a process."""

import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.databases import Databases
from tests.processes import TestStack
from tools.browser import judge, session
from tools.browser.desk_pages import PAGES, Rows
from tools.browser.session import NoBrowser, Watched
from tools.children import ChildFailed

NAME = "operator"


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """An installation and its operator."""

    stack: TestStack
    sandbox_url: str
    database: Path
    password: str

    @property
    def rows(self) -> Rows:
        return Rows(database=self.database)

    def add_operator(self) -> None:
        self.stack.manage(
            "createsuperuser",
            "--noinput",
            f"--username={NAME}",
            "--email=operator@localhost.invalid",
            DJANGO_SUPERUSER_PASSWORD=self.password,
        )

    def seed(self, *arguments: str) -> None:
        """A history. Raises ChildFailed."""
        answer = self.stack.python("-m", "tools.seed", "--sandbox-url", self.sandbox_url, *arguments)
        if answer.returncode:
            raise ChildFailed(answer.stderr[-4000:])


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


@pytest.fixture(scope="session")
def empty(installation: Desk, operator: Watched) -> dict[str, list[str]]:
    """What is wrong with the pages that there are before there is any row, by their names."""
    found = {}
    for name, where in PAGES.items():
        with suppress(LookupError):
            found[name] = judge.first_problems(operator, where(installation.rows))
    return found


@pytest.fixture(scope="session")
def seeded(installation: Desk, empty: dict[str, list[str]]) -> Desk:
    """With a history of three days. Its pages were looked at before that."""
    installation.seed("--days", "3", "--tasks", "80", "--pictures", "6")
    return installation
