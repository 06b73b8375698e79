"""Markdown of the document as HTML, in which no text becomes a tag."""

import pytest

from reference.markdown import rendered

CASES = [
    ("One\nline.\n\nTwo.", "<p>One line.</p>\n<p>Two.</p>"),
    ("Take `a < b` **now**.", "<p>Take <code>a &lt; b</code> <b>now</b>.</p>"),
    ("Either\n- one\n  and more\n- two", "<p>Either</p>\n<ul><li>one and more</li><li>two</li></ul>"),
    ("1. first\n2. second", "<ol><li>first</li><li>second</li></ol>"),
    ("See [it](#createTask).", '<p>See <a href="#createTask">it</a>.</p>'),
    ("[a](https://a.test/?x=1&y=2)", '<p><a href="https://a.test/?x=1&amp;y=2">a</a></p>'),
    ("`[a](#b) **c**`", "<p><code>[a](#b) **c**</code></p>"),
    ("```json\n{\n\n<b>}\n```", "<pre><code>{\n\n&lt;b&gt;}</code></pre>"),
    ("", ""),
]
HOSTILE = [
    "<script>alert(1)</script>",
    "[a](javascript:alert(1))",
    "[a](//elsewhere.test)",
    '[a](https://a.test/"onclick="x)',
    "[<img src=x>](#a)",
    "`<img src=x>`",
]


@pytest.mark.parametrize(("text", "html"), CASES)
def test_the_small_part_of_markdown_is_rendered(text, html):
    assert rendered(text) == html


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_becomes_a_tag_or_a_link_that_runs(text):
    html = rendered(text)
    assert "<script" not in html
    assert "<img" not in html
    assert 'href="javascript' not in html
    assert 'href="//' not in html
    assert "onclick=" not in html or "&quot;onclick=" in html
