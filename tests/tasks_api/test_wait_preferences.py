"""What asks for a wait, and how long."""

from tasks_api import waiting
from tests.scopes import scope

PREFERRED = [
    ("wait=10", 10),
    ("respond-async, wait=5", 5),
    ("WAIT = 7", 7),
    ('wait="8"', 8),
    ("wait=9; foo=bar", 9),
    ("wait=61", 60),
    ("wait=" + "9" * 5000, 60),
    ("wait=0", 0),
    ("wait=007", 7),
    ("wait=1, wait=2", 1),
    ("", None),
    ("wait", None),
    ("wait=", None),
    ("wait=-1", None),
    ("wait=1.5", None),
    ("wait=soon, wait=2", None),
    ("waiting=3", None),
    ('wait="3', None),
    ("wait=²", None),
]
QUERIED = [("wait=3", 3), ("a=b&wait=99", 60), ("wait=x", None), ("wait=-1", None), ("wait=", None), ("", None)]


def test_the_first_wait_preference_counts_if_it_is_well_formed():
    for prefer, seconds in PREFERRED:
        request = scope("POST", "/v1/tasks")
        request["headers"].append((b"prefer", prefer.encode()))
        assert waiting.preferred(request) == seconds, prefer


def test_the_query_asks_for_a_wait():
    for query, seconds in QUERIED:
        assert waiting.queried(scope("GET", "/", query)) == seconds, query
