"""What a browser sends of a page's form: every field as the page shows it."""

from html.parser import HTMLParser
from typing import Any

from django.test import Client


class SentForm(HTMLParser):
    """The fields of the first form with this id, as a browser without JavaScript would send them."""

    def __init__(self, page: str, form_id: str) -> None:
        super().__init__()
        self.form_id, self.inside, self.templates, self.select, self.text = form_id, False, 0, "", ""
        self.fields: dict[str, str] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        given = dict(attributes)
        self.templates += tag == "template"
        self.inside = self.inside or (tag == "form" and given.get("id") == self.form_id)
        if not self.inside or self.templates:
            return
        name, value = given.get("name", ""), given.get("value") or ""
        if tag == "input" and given.get("type") in ("checkbox", "radio"):
            if "checked" in given:
                self.fields[name] = value or "on"
        elif tag == "input" and given.get("type") != "submit":
            self.fields[name] = value
        elif tag == "select":
            self.select = name
            self.fields.setdefault(name, "")
        elif tag == "option" and "selected" in given:
            self.fields[self.select] = value
        elif tag == "textarea":
            self.text = name
            self.fields[name] = ""

    def handle_data(self, data: str) -> None:
        if self.text:
            self.fields[self.text] += data.removeprefix("\n")

    def handle_endtag(self, tag: str) -> None:
        self.templates -= tag == "template"
        self.inside = self.inside and tag != "form"
        self.text = "" if tag == "textarea" else self.text


def sent(client: Client, url: str, form_id: str) -> dict[str, str]:
    """What saving the page as it is would send."""
    answer = client.get(url)
    assert answer.status_code == 200, url
    fields = SentForm(answer.content.decode(), form_id).fields
    assert "csrfmiddlewaretoken" in fields
    return fields
