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
    ('foo="a, wait=9", wait=2', 2),
    (r'foo="a\", wait=9", wait=2', 2),
    (r'foo="a\\", wait=2', 2),
    ('foo="; wait=9"; bar="x, wait=8", wait=2', 2),
    ('wait="1\\0"', 10),
    (' ,, wait = "8" ;; foo="a;b" ; bar , wait=2', 8),
    ("respond-async; wait=9, wait=2", 2),
    ("foo=wait=9, wait=2", 2),
    ("wait==5, wait=2", 2),
    ("wait 5, (wait=9), wait=2", 2),
    ('foo="a, wait=9', None),
    ("wait=" + "; " * 5000 + "(", None),
]
SEVERAL = [
    (["handling=lenient", "wait=4"], 4),
    (["wait=3", "wait=4"], 3),
    (["", "Wait=4"], 4),
    (['foo="a', "wait=4"], 4),
    (["wait", "wait=4"], None),
]
QUERIED = [("wait=3", 3), ("a=b&wait=99", 60), ("wait=x", None), ("wait=-1", None), ("wait=", None), ("", None)]


def test_the_first_wait_preference_counts_if_it_is_well_formed():
    for prefer, seconds in PREFERRED:
        request = scope("POST", "/v1/tasks")
        request["headers"].append((b"prefer", prefer.encode()))
        assert waiting.preferred(request) == seconds, prefer


def test_several_headers_are_one_list_of_preferences():
    for lines, seconds in SEVERAL:
        request = scope("POST", "/v1/tasks")
        request["headers"] += [(b"prefer", line.encode()) for line in lines]
        assert waiting.preferred(request) == seconds, lines


def test_the_query_asks_for_a_wait():
    for query, seconds in QUERIED:
        assert waiting.queried(scope("GET", "/", query)) == seconds, query
