"""What stands in an upstream request for a portable input is checked as that input is. Pure."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from adapters.base import Unsupported
from adapters.kit import checks, references
from common import strict_json
from common.http import data_urls
from common.params.image import LONGEST_PROMPT as LONGEST_PROMPT

FILE = "file_id"
KEYS = frozenset({"type", "url", "image_url"})
NO_IMAGES = "must be addresses of images, or Data URLs, as this protocol writes them"


@dataclass(frozen=True, slots=True, kw_only=True)
class InputRules:
    """What the service asks of inputs beyond the channel model: the most reference images that the model takes, what it
    offers of `image_size` and `aspect_ratio`, and what is wrong with an address, in words, if anything. None of it is
    asked again when a task runs."""

    most_images: int | None = None
    offered: Mapping[str, Collection[str]] | None = None
    address_problem: Callable[[str], str | None] = lambda address: None


class Odd(Exception):
    """Something in a message that is neither text nor an inline picture: where, and why it cannot pass."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(field, reason)
        self.field, self.reason = field, reason


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagePart:
    """What a message holds at one place: a text, or a picture as a Data URL."""

    field: str
    text: str = ""
    picture: str | None = None

    @classmethod
    def of_text(cls, field: str, text: object) -> Self:
        """Raises Odd."""
        if not isinstance(text, str):
            raise Odd(field, "must be a text")
        return cls(field=field, text=text)


def elements(field: str, value: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The objects of a list, each with its place. Raises Odd for what is no such list, or empty."""
    if not isinstance(value, list) or not value:
        raise Odd(field, "must be a list of objects that is not empty")
    for index, item in enumerate(value):
        if not isinstance(item, Mapping):
            raise Odd(f"{field}[{index}]", "must be an object")
        yield f"{field}[{index}]", item


def text_part(place: str, part: Mapping[str, Any], kinds: Sequence[str]) -> MessagePart | None:
    """A part of a message that is a text; None for one of the other `kinds`. Raises Odd for what is none of them."""
    only(place, part, kinds)
    if len(part) != 1:
        raise Odd(place, f"must have one of {', '.join(kinds)}")
    return MessagePart.of_text(f"{place}.text", part["text"]) if "text" in part else None


def only(field: str, value: Mapping[str, Any], names: Collection[str]) -> None:
    """Raises Odd for the first name that is none of these."""
    for name in value:
        if name not in names:
            raise Odd(strict_json.field(field, name), f"is not taken here, only {' and '.join(names)}")


def messages(
    field: str, parts: Sequence[MessagePart], capabilities: Mapping[str, Any], *, most: int, rules: InputRules
) -> Iterator[Unsupported]:
    """Of whole messages: their texts together are what a prompt may be, their pictures what the images may be."""
    words = "".join(part.text for part in parts)
    if not words.strip():
        yield Unsupported(field=field, reason="must hold a text that is not blank")
    yield from _lengths(field, words, capabilities)
    pictures = [(part.field, part.picture) for part in parts if part.picture is not None]
    yield from _pictures(field, pictures, capabilities, most=most, rules=rules)


def prompt(field: str, value: object, capabilities: Mapping[str, Any]) -> Iterator[Unsupported]:
    """A text with more than blanks in it, no longer than the service's limit and the channel model's."""
    if not isinstance(value, str) or not value.strip():
        yield Unsupported(field=field, reason="must be a text that is not blank")
        return
    yield from _lengths(field, value, capabilities)


def _lengths(field: str, text: str, capabilities: Mapping[str, Any]) -> Iterator[Unsupported]:
    yield from checks.at_most(field, len(text), LONGEST_PROMPT, checks.LONG)
    yield from checks.at_most(field, len(text), capabilities.get("prompt_max"), checks.LONG)


def is_offered(name: str, value: object, rules: InputRules) -> bool:
    """Whether a value that stands for a portable choice is one that the model offers; any, where nobody asks."""
    return rules.offered is None or (isinstance(value, str) and value in rules.offered.get(name, ()))


def images(
    given: Mapping[str, Any], capabilities: Mapping[str, Any], *, most: int, rules: InputRules, takes_files: bool
) -> Iterator[Unsupported]:
    """Of the fields that stand for `params.images`, by where they are shown: all of them together are no more than
    protocol, channel model and model take, and each image is an address or a Data URL as it would be there."""
    found: list[tuple[str, str | None]] = []
    for field, value in given.items():
        try:
            found += _addresses(field, value, takes_files=takes_files)
        except ValueError:
            yield Unsupported(field=field, reason=NO_IMAGES)
            return
    for field in list(given)[:1]:
        yield from _pictures(field, found, capabilities, most=most, rules=rules)


def _pictures(
    field: str,
    found: Sequence[tuple[str, str | None]],
    capabilities: Mapping[str, Any],
    *,
    most: int,
    rules: InputRules,
) -> Iterator[Unsupported]:
    """Their number, told of the field, and what is wrong with each."""
    limits = [most, capabilities.get("max_images", most), most if rules.most_images is None else rules.most_images]
    yield from checks.at_most(field, len(found), min(limits))
    for field, address in found:
        if address is not None and (problem := _problem(address, capabilities, rules)):
            yield Unsupported(field=field, reason=problem)


def _addresses(field: str, value: object, *, takes_files: bool) -> Iterator[tuple[str, str | None]]:
    """Where each image is given, and its address; None for a file of the operator's account, which `extra_fields` let
    pass. Raises ValueError for whatever else."""
    if isinstance(value, Mapping) and not isinstance(value.get("type", ""), str):
        raise ValueError("no image")
    if isinstance(value, str):
        yield field, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _addresses(f"{field}[{index}]", item, takes_files=takes_files)
    elif isinstance(value, Mapping) and takes_files and value.keys() - {"type"} == {FILE}:
        yield field, None
    elif isinstance(value, Mapping) and value.keys() <= KEYS and len(value.keys() - {"type"}) == 1:
        (name,) = value.keys() - {"type"}
        yield from _addresses(f"{field}.{name}", value[name], takes_files=False)
    else:
        raise ValueError("no image")


def _problem(address: str, capabilities: Mapping[str, Any], rules: InputRules) -> str | None:
    if not data_urls.is_data_url(address):
        return rules.address_problem(address)
    if capabilities.get("data_url", True) is False:
        return "must be an http or https URL here"
    try:
        content_type, _ = data_urls.decode(address)
    except ValueError as error:
        return str(error)
    return None if content_type in references.TYPES else f"must be one of {', '.join(references.TYPES)} here"
