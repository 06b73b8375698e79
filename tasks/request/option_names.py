"""Names of options that are refused at any depth, as regular expressions.

The parser searches for the very patterns that `params_schema` publishes. So they name each letter in both cases (JSON
Schema knows no flags), and keep to what ECMA-262 and Python's `re` read alike.
"""

import re

BETWEEN = "[^A-Za-z0-9]*"  # words: nothing (camelCase, or run together) or any signs
END = "[^A-Za-z0-9]*$"


def any_case(pattern: str) -> str:
    """The pattern of lower-case words for words in any letters; `_` is what may stand between two words."""
    return re.sub("[a-z]", lambda each: f"[{each[0].upper()}{each[0]}]", pattern).replace("_", BETWEEN)


def unless_on(*ends: str) -> str:
    """Not where the letters go on to another word: `secret` is none in `secretary`."""
    return f"(?!{'|'.join([*ends, *(end.upper() for end in ends)])})"


def whole_words(*words: str) -> tuple[str, ...]:
    """The words between signs or at the humps of camelCase; `auth` is none in `author`, `Author` and `AUTHOR`."""
    lower, upper = f"(?:{'|'.join(words)})(?![a-z])", f"(?:{'|'.join(words).upper()})(?![a-z]|[A-Z](?:[^a-z]|$))"
    capitals = (f"{word.capitalize()}(?![a-z])" for word in words)
    return f"^{lower}", f"[^A-Za-z]{lower}", f"^{upper}", f"[^A-Z]{upper}", *capitals


LONG = r"[\s\S]{201}"
KEY = any_case("_key") + unless_on("frame", "board", "word", "note", "point", "stroke")
# `design` and `assign` end in `sign` too; `codesign` is a signature again.
SIGN = "(?:^[EeSs]?|[^EeSs]|[^AaDd][EeSs]|[Oo][Dd][Ee]|[es](?=S))" + any_case("sign(?:ing)?")
# Mostly without a boundary before or behind, so that `openaiapikey` and `secretvalue` are found as well.
CREDENTIAL = "|".join(
    (
        f"(?:{any_case('api|access|auth|private')}|{SIGN}){KEY}",
        any_case("secret") + unless_on("ary", "ari", "ion", "ive"),
        any_case("passw(?:or)?d") + unless_on("less"),
        any_case("passphrase|authori(?:s|z)ation|credential|bearer"),
        any_case("(?:api|access|auth|refresh|session|security)_tokens?") + END,
        "(?:^[Ii]|[^A-Za-z][Ii]|[a-z]I)" + any_case("d_tokens?") + END,
        any_case("^(?:token|auth|pwd|jwt|cookies?)") + END,
        *whole_words("auth", "pwd", "jwt", "cookies", "cookie"),
    )
)
STREAMING = any_case("^(?:stream(?:ing|_options)?|partial_images)") + END
WEBHOOK = any_case("webhook|callback|^notify_url") + END
MODEL = any_case("^model(?:_(?:name|id))?") + END
