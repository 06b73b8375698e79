"""A browser, and pages in it that record problems from their first byte on."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Error,
    Page,
    Response,
    expect,
    sync_playwright,
)

from tools.children import PATIENCE

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PHONE, TABLET, DESKTOP = 360, 768, 1440
HEIGHTS = {PHONE: 740, TABLET: 1024, DESKTOP: 900}
SANDBOXLESS = ["--no-sandbox", "--disable-gpu", "--font-render-hinting=none"]
WATCH = """
window.seen = {violations: [], shift: 0, shifted: []};
addEventListener('securitypolicyviolation', event => seen.violations.push(
    `${event.effectiveDirective} blocked ${event.blockedURI} at ${event.sourceFile}:${event.lineNumber} ${event.sample}`
));
new PerformanceObserver(list => list.getEntries().filter(entry => !entry.hadRecentInput).forEach(entry => {
    seen.shift += entry.value;
    entry.sources.filter(source => source.node).forEach(
        ({node}) => seen.shifted.push(`${node.nodeName}.${node.className}`)
    );
})).observe({type: 'layout-shift', buffered: true});
"""
"""Runs in every document before its own scripts. A page's content security policy does not bind it."""


class NoBrowser(Exception):
    """Chromium is missing or does not start; the message says which."""


def executable() -> str:
    """Returns the path of Chromium. Raises NoBrowser."""
    for name in NAMES:
        if path := shutil.which(name):
            return path
    raise NoBrowser(f"no browser is installed: none of {', '.join(NAMES)} is on the PATH")


@contextmanager
def browser() -> Iterator[Browser]:
    """Yields a headless Chromium, which needs no display. Raises NoBrowser."""
    path = executable()
    with sync_playwright() as playwright:
        try:
            running = playwright.chromium.launch(executable_path=path, args=SANDBOXLESS)
        except Error as error:
            raise NoBrowser(f"{path} does not start: {error.message.splitlines()[0]}") from error
        try:
            yield running
        finally:
            running.close()


@dataclass(slots=True)
class Watched:
    """A page with the complaints of its console, its scripts and its own requests since the last call."""

    page: Page
    complaints: list[str] = field(default_factory=list)

    def complain(self, words: str) -> None:
        self.complaints.append(words)

    def on_console(self, message: ConsoleMessage) -> None:
        """Records a message, except about server answers: `on_response` records those, and knows the request."""
        if message.type == "error" and "the server responded with a status of" not in message.text:
            self.complain(f"console: {message.text} ({message.location.get('url', '')})")

    def on_dialog(self, dialog: Dialog) -> None:
        """Records a dialog: no page of ours has any, so it is a script within somebody's text."""
        self.complain(f"dialog: {dialog.message}")
        dialog.dismiss()

    def on_response(self, response: Response) -> None:
        if response.status >= 400 and not response.request.is_navigation_request():
            self.complain(f"{response.status} of {response.url}")


def context(running: Browser, base_url: str, *, width: int = DESKTOP, scheme: str = "light") -> BrowserContext:
    """Opens a browser session: its own cookies, size, colors and timeouts, with the clock in UTC."""
    expect.set_options(timeout=PATIENCE * 1000)
    made = running.new_context(
        base_url=base_url,
        viewport={"width": width, "height": HEIGHTS[width]},
        color_scheme="dark" if scheme == "dark" else "light",
        locale="en-GB",
        timezone_id="UTC",
        reduced_motion="reduce",
    )
    made.set_default_timeout(PATIENCE * 1000)
    return made


def watched(session: BrowserContext) -> Watched:
    """Opens a page in a session."""
    page = session.new_page()
    page.add_init_script(WATCH)
    found = Watched(page)
    page.on("console", lambda message: found.on_console(message))
    page.on("pageerror", lambda error: found.complain(f"script: {error}"))
    page.on("dialog", lambda dialog: found.on_dialog(dialog))
    page.on("response", lambda response: found.on_response(response))
    return found


def sign_in(page: Page, name: str, password: str, path: str = "/admin/login/?next=/admin/") -> None:
    """Signs in like an operator."""
    page.goto(path)
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(lambda url: "/login/" not in url)


def present(page: Page, key: str, path: str = "/console/sign-in/") -> None:
    """Signs in to the console with a key, like a customer."""
    page.goto(path)
    page.get_by_label("API key").fill(key)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda url: "/sign-in/" not in url)
