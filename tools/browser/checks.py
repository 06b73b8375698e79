"""Checks that hold for every page: each returns problems in words, empty if all is well."""

from collections.abc import Sequence
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

from tools.browser.session import Watched

MOST_BYTES = 100 * 1024
MOST_SHIFT = 0.1
MOST_STOPS, STRIDE = 80, 10
"""Most keyboard stops checked on a page, and the stops between two looks for the end of the page."""
GRAVE = ("serious", "critical")
LOOKS = ("color-contrast", "link-in-text-block", "scrollable-region-focusable")
"""Rules of axe-core whose verdict depends on size and colors."""
BYTES = """
() => [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
    .filter(entry => !['img', 'video', 'image', 'audio'].includes(entry.initiatorType) || entry.name.endsWith('.svg'))
    .map(entry => [entry.encodedBodySize, entry.name])
"""
WIDE = """
() => [...document.querySelectorAll('body *')].filter(
    node => node.getBoundingClientRect().right > innerWidth + 1 && getComputedStyle(node).position !== 'fixed'
).slice(0, 5).map(node => `${node.nodeName}.${node.className}`)
"""
FROM_THE_TOP = """
() => {
    window.stops = new Map();
    window.hasWrapped = false;
    addEventListener('focusin', ({target}) => {
        hasWrapped ||= stops.size > 1 && target === stops.keys().next().value;
        if (stops.has(target) || target === document.body) return;
        const style = getComputedStyle(target), box = target.getBoundingClientRect();
        const isOutlined = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
        // Players and fields of several parts show the browser's own ring on what is inside of them.
        const hasParts = target.matches('video, audio, input[type^=date], input[type=time]');
        const hasRing = target.matches(':focus-visible') && (isOutlined || style.boxShadow !== 'none');
        stops.set(target, hasParts || (hasRing && box.width > 0 && box.height > 0));
    });
    document.body.tabIndex = -1;
    document.body.focus();
    document.body.removeAttribute('tabindex');
}
"""
UNSEEN = """
() => [...stops].filter(([, isSeen]) => !isSeen).map(([node]) => node.outerHTML.slice(0, 120))
"""
UNREACHED = """
() => [...document.querySelectorAll('a[href], button, input, select, textarea, summary')].filter(node =>
    !node.disabled && node.tabIndex >= 0 && node.checkVisibility({visibilityProperty: true})
    && !(node.type === 'radio' && stops.size) && !stops.has(node)
).map(node => node.outerHTML.slice(0, 120))
"""


def violations(watched: Watched) -> list[str]:
    """Returns violations of the content security policy and errors of scripts, console and requests since the last
    call. Call it before `axe`, which violates the policy itself."""
    found: list[str] = [*watched.page.evaluate("() => seen.violations.splice(0)"), *watched.complaints]
    watched.complaints.clear()
    # The browser also reports a violation on its console.
    return [words for words in found if "Content Security Policy" not in words] or found


def axe(page: Page, rules: Sequence[str] = ()) -> list[str]:
    """Returns serious and critical findings of axe-core, of all its rules or of these."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    only = {"runOnly": list(rules)} if rules else {}
    found: dict[str, Any] = page.evaluate(
        "options => axe.run(document, options)", {"resultTypes": ["violations"], **only}
    )
    return [_finding(each) for each in found["violations"] if each["impact"] in GRAVE]


def _finding(violation: dict[str, Any]) -> str:
    """Describes a finding with its first place."""
    nodes = violation["nodes"]
    first = f"{nodes[0]['html'][:160]} and {len(nodes) - 1} more"
    return f"axe: {violation['id']} ({violation['impact']}): {violation['help']}: {first}"


def weight(page: Page) -> list[str]:
    """Checks the bytes of a first view as transferred, except pictures and films."""
    parts: list[tuple[int, str]] = page.evaluate(BYTES)
    total = sum(size for size, _ in parts)
    if total <= MOST_BYTES:
        return []
    heaviest = ", ".join(f"{name} {size:,}" for size, name in sorted(parts, reverse=True)[:5])
    return [f"weighs {total:,} bytes, of {MOST_BYTES:,}: {heaviest}"]


def overflow(page: Page) -> list[str]:
    """Checks that the page need not be scrolled sideways."""
    needed, given = page.evaluate("() => [document.documentElement.scrollWidth, innerWidth]")
    return [f"needs {needed} px of {given}: {page.evaluate(WIDE)}"] if needed > given else []


def shift(page: Page) -> list[str]:
    """Checks that nothing moved while the page loaded."""
    seen: dict[str, Any] = page.evaluate("() => seen")
    return [f"layout shift of {seen['shift']:.2f}: {seen['shifted'][:5]}"] if seen["shift"] >= MOST_SHIFT else []


def tab_through(page: Page) -> list[str]:
    """Checks that every keyboard stop shows its focus, and that every control is one."""
    page.evaluate(FROM_THE_TOP)
    for _ in range(MOST_STOPS // STRIDE):
        for _ in range(STRIDE):
            page.keyboard.press("Tab")
        unreached: list[str] = page.evaluate(UNREACHED)
        if not unreached or page.evaluate("() => hasWrapped"):
            break
    else:
        unreached = []
    unseen: list[str] = page.evaluate(UNSEEN)
    return [
        *(f"focus is not visible: {name}" for name in unseen[:5]),
        *(f"not reached by the keyboard: {name}" for name in unreached[:3]),
    ]
