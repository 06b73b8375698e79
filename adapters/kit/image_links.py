"""Reference images of protocols that take addresses: a public URL as it is, bytes of ours as a Data URL."""

from collections.abc import Sequence

from adapters.base import FilePart, ImageRef
from adapters.kit import inline

TYPES = ("image/png", "image/jpeg", "image/webp")


def links(images: Sequence[ImageRef]) -> list[str | dict[str, int]]:
    """The address of each image; of one that we hold a mark, which `inline.body_of` replaces by the Data URL."""
    found: list[str | dict[str, int]] = []
    held = 0
    for image in images:
        if image.url is not None:
            found.append(image.url)
        else:
            found.append(inline.mark(held))
            held += 1
    return found


def files_of(images: Sequence[ImageRef]) -> tuple[FilePart, ...]:
    """What the marks of `links` stand for, in order."""
    return tuple(FilePart(field="image", image=image) for image in images if image.url is None)
