"""Rows of forms in a browser: added from a template, removed, dragged; and none of it is needed."""

import pytest

from tools.browser import judge
from tools.browser.desk_pages import PAGES, row
from tools.browser.session import DESKTOP

pytestmark = [pytest.mark.browser, pytest.mark.once]


MURAL = row("/admin/catalog/mediamodel/{}/change/", "SELECT id FROM catalog_mediamodel WHERE name = 'mural-image'")


def test_rows_are_added_and_removed_by_keyboard(operator, seeded):
    page = operator.page
    page.goto(MURAL(seeded.rows))
    last = page.locator("[data-row]", has=page.locator("[name=prices-2-tier]"))
    assert last.locator("input").first.input_value() == "4K"
    last.get_by_role("button", name="Remove this row").press("Enter")
    page.get_by_role("button", name="Add a tier").press("Enter")
    page.keyboard.type("8K")
    page.keyboard.press("Tab")
    page.keyboard.type("0.5")
    page.get_by_role("button", name="Save and continue editing").press("Enter")
    assert page.locator("[name=prices-2-tier]").input_value() == "8K"
    assert page.locator("[name=prices-2-usd]").input_value() == "0.5"


def test_a_dragged_route_gets_its_place_in_numbers(operator, seeded):
    page = operator.page
    judge.look(page, DESKTOP, "light")
    page.goto(PAGES["plan"](seeded.rows))
    body = page.locator("[data-order]", has=page.locator("tr:nth-child(2)")).first
    names = body.locator("a").all_inner_texts()
    first, second = body.locator("[data-order-row]").all()
    bottom = second.bounding_box()["height"] - 3
    first.locator("[data-order-handle]").drag_to(second, target_position={"x": 40, "y": bottom})
    assert body.locator("a").all_inner_texts() == names[::-1]
    assert [field.input_value() for field in body.locator("input[name$='-priority']").all()] == ["10", "20"]
