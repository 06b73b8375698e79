"""Fixtures of every test: databases, rows, clients and real processes; and what holds for all of them."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import hypothesis
import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client, TransactionTestCase

from accounts import authentication
from accounts.models import Account
from catalog import snapshot
from catalog.health import relay_reading
from catalog.models import Channel, MediaModel, Plan
from common.concurrency import wakeups
from common.outgoing.kept_connections import kept
from relay import books
from relay.lists import model_names
from tasks import route_sets
from tasks.assets import lookups
from tasks.shown import eta, usage
from tests import emptying, io_guard, postgres
from tests.databases import Databases, is_postgresql
from tests.environment import SCRATCH
from tests.processes import TestStack
from tests.rows import IMAGE_PARAMS, IssuedKey, make_account, make_channel, make_key, make_model, make_route
from tools.children import PATIENCE

# A busy machine is no bad strategy.
TOO_SLOW = [hypothesis.HealthCheck.too_slow]
hypothesis.settings.register_profile("darkroom", deadline=None, suppress_health_check=TOO_SLOW)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, suppress_health_check=TOO_SLOW)
hypothesis.settings.load_profile("ci" if "CI" in os.environ else "darkroom")

# A net on a bad host; whatever it catches is a race, to be mended. Not for all tests: the plugin takes its time.
RUNS_AGAIN = pytest.mark.flaky(reruns=2)
LONGEST_ID = 60
DATABASE_FIXTURES = {"db", "transactional_db", "live_server", "databases"}


def is_transactional(item: pytest.Item) -> bool:
    marker = item.get_closest_marker("django_db")
    fixtures = {"transactional_db", "live_server"} & set(getattr(item, "fixturenames", ()))
    return bool(fixtures or (marker and marker.kwargs.get("transaction")))


def has_others(item: pytest.Item) -> bool:
    """Whether other threads or processes take part, at their own pace."""
    return is_transactional(item) or bool({"databases", "sandbox"} & set(getattr(item, "fixturenames", ())))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what touches the database, so that it can run again on the other one, and what runs again when it fails."""
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        if item.get_closest_marker("django_db") or fixtures & DATABASE_FIXTURES:
            item.add_marker(pytest.mark.database)
        if "CI" in os.environ and has_others(item):
            item.add_marker(RUNS_AGAIN)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes, and texts that nobody can read, are named by their parameter: they may hold the clock."""
    is_plain = isinstance(val, str) and len(val) <= LONGEST_ID and val.isascii() and val.isprintable()
    return argname if isinstance(val, str | bytes) and not is_plain else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """A failed test shows the last lines of its processes."""
    report = yield
    stack = getattr(item, "funcargs", {}).get("stack")
    if report.failed and stack:
        report.sections += [(f"last lines of {child.log.name}", child.tail()) for child in stack.children]
    return report


@pytest.fixture(scope="session")
def django_db_modify_db_settings() -> None:
    """A database of this process's own; on SQLite a file, because tests use it from several threads."""
    name = str(SCRATCH / "test.sqlite3")
    if is_postgresql(os.environ["DATABASE_URL"]):
        name = SCRATCH.name.replace("-", "_").lower()
    connection.settings_dict["TEST"]["NAME"] = name
    # Now, not when it is made: a thread of an earlier test that asks meanwhile would open the pool for another one.
    connection.settings_dict["NAME"] = name
    options = connection.settings_dict["OPTIONS"]
    options.get("pool", options)["timeout"] = PATIENCE  # threads wait for a lock, or for a connection of the pool


def drop_by_force(name: str, verbosity: int) -> None:
    """PostgreSQL: also where a thread is still at work in it."""
    with connection._nodb_cursor() as cursor:
        cursor.execute(f"DROP DATABASE {connection.ops.quote_name(name)} WITH (FORCE)")


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> Iterator[None]:
    """The database is dropped whoever is connected to it."""
    yield
    wakeups.post.close()
    if connection.vendor == "postgresql":
        connection.creation._destroy_test_db = drop_by_force


# What a transactional test ends with; Django has no public name for it.
TransactionTestCase._fixture_teardown = lambda case: emptying.empty()


@pytest.fixture(autouse=True)
def no_io_in_transactions() -> Iterator[None]:
    """Fails a test in which the network or asset storage was used while one of our transactions was open."""
    io_guard.breaches.clear()
    yield
    breaches = list(io_guard.breaches)
    io_guard.breaches.clear()
    assert not breaches, "\n".join(breaches)


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    """A provider that resets connections meets fresh ones, in whatever order the tests run."""
    kept.close()


@pytest.fixture(autouse=True)
def no_lease_outlives_its_test() -> Iterator[None]:
    """Else its heart would beat into the databases of others, or into one that is dropped."""
    yield
    books.forget()


@pytest.fixture(autouse=True)
def fresh_pictures() -> None:
    """Ids and version numbers repeat where transactions are rolled back, so nothing read before may stay."""
    snapshot.forget()
    relay_reading.forget()
    route_sets.forget()
    eta.by_model.cache_clear()
    authentication.forget_holders()
    lookups.forget()
    usage.forget()
    model_names.forget()


@pytest.fixture
def account(db: None) -> Account:
    """With a balance of 10 USD."""
    return make_account("tester")


@pytest.fixture
def other_account(db: None) -> Account:
    return make_account("somebody else")


@pytest.fixture
def key(account: Account) -> IssuedKey:
    return make_key(account)


@pytest.fixture
def other_key(other_account: Account) -> IssuedKey:
    """A key of another account."""
    return make_key(other_account)


@pytest.fixture
def plan(db: None) -> Plan:
    return Plan.objects.create(name="standard")


@pytest.fixture
def image_channel(db: None) -> Channel:
    return make_channel("studio", "openai_images", "https://images.provider.example/v1")


@pytest.fixture
def video_channel(db: None) -> Channel:
    return make_channel("cinema", "ark_content_tasks", "https://films.provider.example/api/v3")


@pytest.fixture
def image_model(plan: Plan, image_channel: Channel) -> MediaModel:
    """0.04 USD an image at 1K and 0.08 at 2K, on one route."""
    prices = {"1K": "0.04", "2K": "0.08"}
    model = make_model("aurora-image", "image", plan=plan, prices=prices, params=IMAGE_PARAMS)
    make_route(plan, model, image_channel, upstream_model="gpt-image-2")
    return model


@pytest.fixture
def video_model(plan: Plan, video_channel: Channel) -> MediaModel:
    """0.10 USD a second at 720p and 0.20 otherwise, on one route."""
    model = make_model("comet-video", "video", plan=plan, prices={"720p": "0.1", "*": "0.2"})
    make_route(plan, model, video_channel, upstream_model="seedance-1")
    return model


@pytest.fixture
def client_for() -> Callable[[IssuedKey], Client]:
    """Makes a client of Django's side that sends the key; the front's own paths need a `stack`."""
    return lambda key: Client(headers={"Authorization": f"Bearer {key.secret}"})


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL server, also where the tests run on SQLite."""
    with ExitStack() as open_until_end:
        url = os.environ["DATABASE_URL"]
        yield url if is_postgresql(url) else open_until_end.enter_context(postgres.server())


@pytest.fixture(scope="session")
def databases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Databases]:
    """Copies of a migrated database for real processes."""
    made = Databases(os.environ["DATABASE_URL"], tmp_path_factory.mktemp("databases"))
    yield made
    made.close()


@pytest.fixture
def stack(databases: Databases, tmp_path: Path) -> Iterator[TestStack]:
    """Real processes on a database of their own; nothing runs until the test starts it."""
    with databases.fresh() as url:
        made = TestStack(database_url=url, folder=tmp_path)
        yield made
        made.stop()


@pytest.fixture
def operator(db: None) -> Client:
    """A browser with a superuser signed in."""
    client = Client()
    client.force_login(User.objects.create_superuser("operator"))
    return client
