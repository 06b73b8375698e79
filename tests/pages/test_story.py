"""An operator's first day, in a browser: from a new model to a refunded task, without a line of JSON or SQL."""

import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import requests
from playwright.sync_api import Page, expect

from tests.pages.conftest import NAME, Desk
from tools.browser import checks, session
from tools.browser.session import Watched
from tools.children import PATIENCE, wait_until
from tools.listening import CallbackReceiver

pytestmark = [pytest.mark.browser, pytest.mark.once]
FILM = {"prompt": "a lighthouse", "duration": 5, "resolution": "720p", "aspect_ratio": "16:9"}
LOST = "[reset] a film whose answer is lost"


@pytest.fixture
def watched(browser, seeded) -> Iterator[Watched]:
    own = session.context(browser, seeded.stack.base_url)
    yield session.watched(own)
    own.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """Of what the operator makes. The installation is kept: another attempt makes others."""

    account: str
    key: str
    model: str
    channel: str
    plan: str

    @classmethod
    def new(cls) -> "Names":
        mark = secrets.token_hex(3)
        return cls(
            account=f"Story Books {mark}",
            key=f"first-{mark}",
            model=f"harbour-film-{mark}",
            channel=f"quay-{mark}",
            plan=f"launch-{mark}",
        )


def saved(page: Page) -> None:
    """Save, and see that it was."""
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".messagelist .success, .messagelist .warning").first).to_be_visible()


def create_model(page: Page, model: str) -> None:
    page.goto("/admin/catalog/mediamodel/add/")
    page.get_by_label("Name:").fill(model)
    page.get_by_label("Modality:").select_option("Video")
    page.get_by_label("Default plan:").select_option("standard")
    page.get_by_label("Pricing mode:").select_option("Video Duration")
    page.get_by_label("Tier").first.fill("720p")
    page.get_by_label("USD").first.fill("0.10")
    page.get_by_role("button", name="Add a tier").click()
    page.get_by_label("Tier").last.fill("*")
    page.get_by_label("USD").last.fill("0.20")
    saved(page)


def create_channel(page: Page, names: Names, base_url: str) -> None:
    """With the model that it offers, and one real call to it."""
    page.goto("/admin/catalog/channel/add/")
    page.get_by_role("link", name="ark_content_tasks").click()
    page.get_by_label("Name:").fill(names.channel)
    page.get_by_label("Base URL:").fill(base_url)
    page.get_by_label("api key:").first.fill("sandbox")
    page.get_by_label("reason for the change:").first.fill("a new provider")
    saved(page)
    page.get_by_role("link", name=names.channel).last.click()
    page.get_by_role("link", name="Add a model").click()
    page.get_by_label("Model:", exact=True).select_option(f"{names.model} (video)")
    page.get_by_label("Upstream model:").fill("seedance-2-0")
    page.get_by_label("Tier").first.fill("*")
    page.get_by_label("USD").first.fill("0.06")
    saved(page)


def try_channel(page: Page, desk: Desk, name: str) -> None:
    channel = desk.rows.first(f"SELECT id FROM catalog_channel WHERE name = '{name}'")
    do(page, f"/admin/catalog/channel/{channel}/do/test/", "Test")
    expect(page.get_by_text("seedance-2-0").first).to_be_visible()


def create_plan(page: Page, names: Names) -> None:
    page.goto("/admin/catalog/plan/add/")
    page.get_by_label("Name:").fill(names.plan)
    page.get_by_label("Price multiplier:").fill("1.25")
    page.get_by_label("Model:").select_option(f"{names.model} (video)")
    page.get_by_label("Channel:").select_option(names.channel)
    saved(page)


def issue_key(page: Page, names: Names) -> str:
    """Of the account, on the plan; its secret, which is shown once."""
    page.goto("/admin/accounts/apikey/add/")
    page.get_by_label("Account:").fill(names.account)
    page.get_by_label("Name:").fill(names.key)
    page.get_by_label("Reason:").fill("the first customer")
    page.get_by_label("Model", exact=True).first.select_option(f"{names.model} (video)")
    page.get_by_label("Plan", exact=True).first.select_option(names.plan)
    page.get_by_role("button", name="Save", exact=True).click()
    shown = page.get_by_text(re.compile("dr-task-[A-Za-z0-9]{43}"))
    found = re.search("dr-task-[A-Za-z0-9]{43}", shown.first.inner_text())
    assert found
    return found[0]


def do(page: Page, path: str, button: str, **fields: str) -> None:
    """Fill in the form of a button and press it, by the keyboard."""
    page.goto(path)
    for label, value in fields.items():
        page.get_by_label(label.replace("_", " ")).fill(value)
    page.get_by_role("button", name=button).click()
    expect(page.locator(".messagelist .success").first).to_be_visible()


def ended(client: requests.Session, task_id: str) -> dict:
    def found() -> dict | None:
        task = client.get(f"/v1/tasks/{task_id}").json()
        return None if task["status"] in ("queued", "running") else task

    return wait_until(found, what=f"the end of {task_id}")


def job_of(desk: Desk) -> str:
    """The provider's id of the job that a lost answer bought."""
    url = f"{desk.sandbox_url}/ark/api/v3/contents/generations/tasks?page_size=1"
    answer = requests.get(url, headers={"Authorization": "Bearer sandbox"}, timeout=PATIENCE)
    return answer.json()["items"][0]["id"]


def body(model: str, prompt: str, **fields: str) -> dict:
    return {"model": model, "modality": "video", "params": {**FILM, "prompt": prompt}, **fields}


def ordered(client: requests.Session, model: str, prompt: str, **fields: str) -> str:
    """A task's id. Raises where it is refused."""
    answer = client.post("/v1/tasks", json=body(model, prompt, **fields))
    assert answer.status_code == 202, answer.text
    return answer.json()["id"]


def settle_by_bill(page: Page, desk: Desk, channel: str, folder) -> None:
    """Import a bill with the lost job, and attach that to the call of unknown outcome."""
    job = job_of(desk)
    file = folder / "november.csv"
    file.write_text(f"Job,Cost,Model\n{job},0.30,seedance-2-0\n")
    today = page.evaluate("() => new Date().toISOString().slice(0, 10)")
    page.goto("/admin/desk/providerbill/add/")
    page.get_by_label("Channel:").select_option(channel)
    page.get_by_label("CSV file:").set_input_files(file)
    page.get_by_label("First day:").fill(today)
    page.get_by_label("Last day:").fill(today)
    page.get_by_role("button", name="Import").click()
    page.get_by_role("button", name="Compare with our calls").click()
    page.get_by_role("link", name="Settle").first.click()
    page.get_by_role("link", name="Attach the job").click()
    page.get_by_label("Reason:").fill("the provider bills it")
    page.get_by_role("button", name="Attach the job").click()
    expect(page.locator(".messagelist .success").first).to_be_visible()


def test_an_operators_first_day(watched, seeded, tmp_path):
    page, stack, names = watched.page, seeded.stack, Names.new()
    stack.manage("create_account", names.account, "--credit", "20")
    seeded.work()
    session.sign_in(page, NAME, seeded.password)
    create_model(page, names.model)
    create_channel(page, names, f"{seeded.sandbox_url}/ark/api/v3")
    create_plan(page, names)
    try_channel(page, seeded, names.channel)
    secret = issue_key(page, names)
    client, receiver = stack.client(secret), CallbackReceiver(secret)
    film = ordered(client, names.model, "a lighthouse", callback_url=receiver.url)
    assert ended(client, film)["status"] == "succeeded"
    assert receiver.next(PATIENCE)

    do(page, f"/admin/tasks/task/{film}/do/send/", "Send the callback again")
    assert receiver.next(PATIENCE)

    lost = ordered(client, names.model, LOST)
    assert ended(client, lost)["error"]["type"] == "TASK_OUTCOME_UNKNOWN"
    settle_by_bill(page, seeded, names.channel, tmp_path)
    follower = client.get("/v1/tasks?limit=1").json()["data"][0]["id"]
    assert ended(client, follower)["status"] == "succeeded"

    key = seeded.rows.first(f"SELECT id FROM accounts_apikey WHERE name = '{names.key}'")
    do(page, f"/admin/accounts/apikey/{key}/do/budgets/", "Set budgets", USD_per_day="1.50", Reason="a trial")
    refusal = client.post("/v1/tasks", json=body(names.model, "one more"))
    assert (refusal.status_code, refusal.json()["error"]["type"]) == (403, "TASK_INSUFFICIENT_BALANCE")
    page.goto(f"/admin/accounts/apikey/{key}/change/")
    expect(page.get_by_text("$1.25 of $1.50")).to_be_visible()

    do(page, f"/admin/tasks/task/{film}/do/refund/", "Refund", Reason="it was late")
    expect(page.get_by_text("it was late").first).to_be_visible()
    expect(page.get_by_text(re.compile("Refunded")).first).to_be_visible()
    assert checks.violations(watched) == []
    assert stack.manage_json("check_ledger")["ok"]
