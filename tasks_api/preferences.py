"""The `Prefer` headers of a request (RFC 7240, section 2, with the lists and quoted strings of RFC 9110).

Pure. The quantifiers are possessive, so that no header takes longer than its length.
"""

import re
from collections.abc import Iterable

BLANKS = r"[ \t]*+"
TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]++"
QUOTED = r'"(?:[^"\\]|\\.)*+"'
VALUE = rf"(?:{TOKEN}|{QUOTED})"
PARAMETER = rf"{TOKEN}{BLANKS}(?:={BLANKS}{VALUE}?)?+"
PREFERENCE = re.compile(
    rf"{BLANKS}({TOKEN}){BLANKS}(?:={BLANKS}({VALUE}?){BLANKS})?+(?:;{BLANKS}(?:{PARAMETER})?+{BLANKS})*+"
)
# Between commas. A quoted string that never ends takes the rest of its header with it.
ELEMENT = re.compile(r'(?:[^",]|"(?:[^"\\]|\\.)*+(?:"|\\?\Z))++')
ESCAPED = re.compile(r"\\(.)")


def first(headers: Iterable[str], name: str) -> str | None:
    """The value of the first preference of that (lower-case) name, empty for one without; None where there is none.

    What is malformed is ignored, as the RFC asks.
    """
    for line in headers:
        for element in ELEMENT.findall(line):
            match = PREFERENCE.fullmatch(element)
            if match and match[1].lower() == name:
                return _plain(match[2] or "")
    return None


def _plain(value: str) -> str:
    return ESCAPED.sub(r"\1", value[1:-1]) if value.startswith('"') else value
