"""A signed URL opens one asset until it expires, and nothing can be changed about it."""

import time
from typing import Any
from urllib.parse import urlsplit

from django.utils.crypto import salted_hmac
from hypothesis import assume, given
from hypothesis import strategies as st

from tasks.assets import signed_urls
from tasks.assets.signed_urls import Grant

TASK = "task_01m7yrqc3g7e50cj9zq3fpydat"
LATER = 4_000_000_000


def mint(**changes: Any) -> str:
    return signed_urls.mint(Grant(**{"task_id": TASK, "index": 3, "expires": LATER, **changes}), "png")


def verify(url: str) -> Grant | None:
    parts = urlsplit(url)
    return signed_urls.verify(parts.path, parts.query)


def test_a_minted_url_is_valid_and_names_no_key() -> None:
    assert mint().startswith(f"https://api.ours.example/assets/{TASK}/3.png?expires={LATER}&signature=")
    assert verify(mint()) == Grant(task_id=TASK, index=3, expires=LATER)


def test_links_of_earlier_versions_go_on_working() -> None:
    signature = salted_hmac("darkroom.asset-urls", f"{TASK}/3/{LATER}", algorithm="sha256").hexdigest()
    assert mint().endswith(f"&signature={signature}")


def test_it_stops_working_when_it_expires() -> None:
    assert verify(mint(expires=int(time.time()) - 1)) is None


def test_any_change_makes_it_invalid() -> None:
    for old, new in (
        (TASK, TASK[:-1] + "0"),
        ("/3.png", "/2.png"),
        ("/3.png", "/03.png"),
        ("/3.png", "/3"),
        ("/3.png", "/3.png/"),
        (f"={LATER}", f"={LATER + 1}"),
        (f"={LATER}", f"=0{LATER}"),
        ("&signature=", "&signature=0"),
        ("&signature=", "&other=1&signature="),
        ("?expires", "?signature=0&expires"),
        ("/assets/", "/v1/assets/"),
        ("/assets/", "//assets/"),
    ):
        changed = mint().replace(old, new)
        assert changed != mint()
        assert verify(changed) is None, changed


def test_a_made_up_signature_is_invalid() -> None:
    for signature in ("", "0" * 64, "é" * 64, "A" * 64):
        assert signed_urls.verify(f"/assets/{TASK}/3.png", f"expires={LATER}&signature={signature}") is None


def test_the_extension_is_only_for_the_eye() -> None:
    assert verify(mint().replace(".png", ".jpeg")) == Grant(task_id=TASK, index=3, expires=LATER)


def test_another_secret_key_signs_otherwise(settings: Any) -> None:
    url = mint()
    settings.SECRET_KEY = "another" * 10
    assert verify(url) is None


@given(st.text(max_size=200), st.text(max_size=200))
def test_no_text_breaks_it(path: str, query: str) -> None:
    assert signed_urls.verify(path, query) is None


@given(st.integers(0, 9999), st.integers(LATER, LATER * 2))
def test_every_index_and_expiry_has_a_signature_of_its_own(index: int, expires: int) -> None:
    assume((index, expires) != (3, LATER))
    assert verify(mint(index=index, expires=expires)) == Grant(task_id=TASK, index=index, expires=expires)
    assert mint(index=index, expires=expires).rpartition("=")[2] != mint().rpartition("=")[2]


class TestParseOwn:
    def test_our_own_url_is_recognised(self) -> None:
        assert signed_urls.parse_own(mint()) == (TASK, 3)

    def test_the_same_origin_may_be_written_otherwise(self) -> None:
        for base in ("HTTPS://API.ours.example", "https://api.ours.example:443"):
            assert signed_urls.parse_own(mint().replace("https://api.ours.example", base)) == (TASK, 3)

    def test_another_origin_is_not_ours(self) -> None:
        for base in (
            "http://api.ours.example",
            "https://evil.example",
            "https://api.ours.example.evil.example",
            "https://api.ours.example@evil.example",
            "https://evil@api.ours.example",
            "https://api.ours.example:8443",
            "https://api.ours.example:port",
            "https://[api.ours.example",
            "//api.ours.example",
            "",
        ):
            assert signed_urls.parse_own(mint().replace("https://api.ours.example", base)) is None, base

    def test_fragments_are_not_ours(self) -> None:
        assert signed_urls.parse_own(mint() + "#x") is None

    def test_a_base_url_may_have_a_path(self, settings: Any) -> None:
        settings.PUBLIC_BASE_URL = "https://api.ours.example/media"
        assert signed_urls.parse_own(mint()) == (TASK, 3)

    def test_an_expired_one_counts_only_where_asked_for(self) -> None:
        old = mint(expires=1)
        assert signed_urls.parse_own(old) is None
        assert signed_urls.parse_own(old, expired_too=True) == (TASK, 3)

    def test_a_forged_one_never_counts(self) -> None:
        forged = mint().replace("/3.png", "/4.png")
        assert signed_urls.parse_own(forged, expired_too=True) is None


def test_the_window_changes_every_half_life(settings: Any) -> None:
    settings.ASSET_URL_TTL = 100
    assert [signed_urls.window(now) for now in (0, 49, 50, 99, 100)] == [0, 0, 1, 1, 2]
