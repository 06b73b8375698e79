"""Reads the operations of an OpenAPI document."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from reference import rows, snippets, words
from reference.operations import Example, MediaBody, Operation, StatusAnswer
from reference.rows import FieldRow
from reference.schemas import Document, resolved

METHODS = ("get", "post", "put", "patch", "delete", "head")
EVENTS = "text/event-stream"
PLACES = ("path", "query", "header", "cookie")


def operations(document: Document) -> Iterator[Operation]:
    """Yields all operations in the document's order, webhooks last."""
    for section, is_webhook in (("paths", False), ("webhooks", True)):
        for path, item in document.get(section, {}).items():
            for method in item:
                if method in METHODS:
                    yield Reader(document, path, method, item, is_webhook).operation()


class Reader:
    """Reads one operation."""

    def __init__(self, document: Document, path: str, method: str, item: Mapping[str, Any], is_webhook: bool) -> None:
        self.document = document
        self.path = path
        self.method = method
        self.says: Mapping[str, Any] = item[method]
        self.is_webhook = is_webhook
        listed = [*item.get("parameters", ()), *self.says.get("parameters", ())]
        self.parameters = [resolved(each, document) for each in listed]
        self.body = resolved(self.says.get("requestBody", {}), document)

    def operation(self) -> Operation:
        answers = tuple(self.answers())
        errors = tuple(answer for answer in answers if answer.is_error)
        return Operation(
            id=self.says.get("operationId", f"{self.method}-{self.path}"),
            method=self.method.upper(),
            path="your callback_url" if self.is_webhook else self.path,
            tag=next(iter(self.says.get("tags", ())), ""),
            summary=self.says.get("summary", self.path),
            description=self.says.get("description", ""),
            is_webhook=self.is_webhook,
            is_deprecated=bool(self.says.get("deprecated")),
            keys=tuple(self.key_words(name) for name in self.schemes()),
            parameters=tuple(self.by_place()),
            description_of_body=self.body.get("description", ""),
            is_body_required=bool(self.body.get("required")),
            bodies=self.bodies(self.body),
            answers=tuple(answer for answer in answers if not answer.is_error),
            errors=errors,
            error_rows=self.error_rows(),
            curl="" if self.is_webhook else self.curl(),
        )

    def schemes(self) -> list[str]:
        """Names the alternative ways to authenticate."""
        security = self.says.get("security", () if self.is_webhook else self.document.get("security", ()))
        return [name for choice in security for name in choice]

    def scheme(self, name: str) -> Mapping[str, Any]:
        return dict(resolved(self.document["components"]["securitySchemes"][name], self.document))

    def key_words(self, name: str) -> str:
        scheme = self.scheme(name)
        return str(scheme.get("x-title", name))

    def by_place(self) -> Iterator[tuple[str, tuple[FieldRow, ...]]]:
        for place in PLACES:
            found = tuple(self.parameter(each, each["name"]) for each in self.parameters if each["in"] == place)
            if found:
                yield place, found

    def parameter(self, says: Mapping[str, Any], name: str) -> FieldRow:
        """Reads a parameter or header, whose own fields override its schema's."""
        own = {key: says[key] for key in ("description", "deprecated", "example") if key in says}
        schema = {"allOf": [says.get("schema", {})], **own}
        return rows.row("", name, schema, self.document, is_required=bool(says.get("required")))

    def bodies(self, says: Mapping[str, Any]) -> tuple[MediaBody, ...]:
        return tuple(
            MediaBody(
                media_type=media_type,
                kind=words.kind(media.get("schema", {}), self.document),
                rows=rows.rows(media.get("schema", {}), self.document),
                examples=tuple(self.examples(media)),
            )
            for media_type, media in says.get("content", {}).items()
        )

    def examples(self, media: Mapping[str, Any]) -> Iterator[Example]:
        """Returns the media type's examples, else its schema's."""
        if "example" in media:
            yield Example(title="", text=shown(media["example"]))
        for name, each in media.get("examples", {}).items():
            example = resolved(each, self.document)
            yield Example(title=example.get("summary", name), text=shown(example["value"]))

    def answers(self) -> Iterator[StatusAnswer]:
        for status, each in self.says.get("responses", {}).items():
            says = resolved(each, self.document)
            headers = says.get("headers", {}).items()
            yield StatusAnswer(
                status=str(status),
                description=says.get("description", ""),
                headers=tuple(self.parameter(resolved(header, self.document), name) for name, header in headers),
                bodies=self.bodies(says),
            )

    def error_rows(self) -> tuple[FieldRow, ...]:
        """Returns the fields of the common error body once."""
        for status, each in self.says.get("responses", {}).items():
            if str(status)[0] in "45d":
                for media in resolved(each, self.document).get("content", {}).values():
                    schema = media.get("schema", {})
                    return rows.rows({"$ref": schema["$ref"]} if "$ref" in schema else schema, self.document)
        return ()

    def curl(self) -> str:
        names = self.schemes()
        return snippets.curl(
            self.method.upper(),
            self.path,
            scheme=(names[0], self.scheme(names[0])) if names else None,
            parameters=self.parameters,
            body=self.first_body(),
            is_stream=self.is_stream(),
        )

    def is_stream(self) -> bool:
        """Tells whether the operation answers only with events."""
        answers = (resolved(each, self.document) for each in self.says.get("responses", {}).values())
        return any([*answer.get("content", ())] == [EVENTS] for answer in answers)

    def first_body(self) -> tuple[str, Any] | None:
        """Returns the media type and value of the first example."""
        for media_type, media in self.body.get("content", {}).items():
            if "example" in media:
                return media_type, media["example"]
            for each in media.get("examples", {}).values():
                return media_type, resolved(each, self.document)["value"]
            return media_type, {}
        return None


def shown(value: Any) -> str:
    """Shows a text as it is, anything else as indented JSON."""
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
