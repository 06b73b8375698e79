"""Every page of the console and of the reference keeps the rules: with a history to show, and for a new key."""

import pytest

from tools.browser import judge
from tools.browser.console_pages import NOT_THERE, PAGES

pytestmark = [pytest.mark.browser, pytest.mark.once]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_the_console_keeps_the_rules(customer, seeded, name):
    found = judge.problems(customer, PAGES[name](seeded.rows))
    assert not found, "\n".join(found)


def test_pages_of_a_new_key_keep_the_rules(empty_console):
    assert {"create", "live", "gallery", "usage"} <= set(empty_console)
    assert {name: found for name, found in empty_console.items() if found} == {}


def test_a_page_that_is_not_there_keeps_the_rules(customer):
    found = judge.problems(customer, NOT_THERE, status=404)
    assert not found, "\n".join(found)
