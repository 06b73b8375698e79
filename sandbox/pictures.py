"""Draws real pictures quickly: a sky in colors that follow from the prompt, with the prompt drawn on it."""

import colorsys
import io
import textwrap
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

from PIL import Image, ImageDraw, ImageFont

# One byte per pixel: indices 0 to 199 fade from one color to the other, the rest to white, into which text fades.
LAST_COLOUR, WHITE = 199, 255
LONGEST_TEXT = 240
SAVE_OPTIONS: dict[str, dict[str, int]] = {
    "png": {"compress_level": 1},
    "jpeg": {"quality": 85},
    "webp": {"quality": 80, "method": 0},
    "gif": {},
}

Colour = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture to make; `index` distinguishes the pictures of one prompt, `footer` is drawn below the prompt."""

    prompt: str
    width: int
    height: int
    output_format: str = "png"
    index: int = 0
    footer: str = ""

    @property
    def content_type(self) -> str:
        return f"image/{self.output_format}"

    def render(self) -> bytes:
        """Returns the encoded picture."""
        size = (self.width, self.height)
        sky = Image.linear_gradient("L").point([i * LAST_COLOUR // 255 for i in range(256)]).resize(size)
        draw = ImageDraw.Draw(sky)
        draw_sun(draw, size, self.index)
        draw_text(draw, size, "\n".join(filter(None, [self.prompt[:LONGEST_TEXT], self.footer])))
        # `putpalette` colors the grey picture without touching a pixel.
        sky.putpalette(palette(self.prompt, self.index))
        return encoded(sky, self.output_format)


def encoded(picture: Image.Image, output_format: str) -> bytes:
    """Returns the bytes in a format of SAVE_OPTIONS."""
    file = io.BytesIO()
    if output_format in ("jpeg", "webp"):
        picture = picture.convert("RGB")
    picture.save(file, output_format, **SAVE_OPTIONS[output_format])
    return file.getvalue()


def palette(prompt: str, index: int) -> list[int]:
    """Returns 256 colors, always the same for a prompt and index."""
    digest = sha256(f"{index}:{prompt}".encode(errors="replace")).digest()
    hue = digest[0] / 256
    dark = colour(hue, 0.75, 0.30)
    bright = colour(hue + 0.08 + digest[1] / 1024, 0.60, 0.72)
    colours = blend(dark, bright, LAST_COLOUR + 1) + blend(bright, (255, 255, 255), WHITE - LAST_COLOUR)
    return [channel for one in colours for channel in one]


def colour(hue: float, saturation: float, value: float) -> Colour:
    """Returns 8-bit red, green and blue."""
    red, green, blue = colorsys.hsv_to_rgb(hue % 1, saturation, value)
    return round(red * 255), round(green * 255), round(blue * 255)


def blend(start: Colour, end: Colour, steps: int) -> list[Colour]:
    """Returns the steps between two colors, both included."""
    return [
        (
            start[0] + (end[0] - start[0]) * step // (steps - 1),
            start[1] + (end[1] - start[1]) * step // (steps - 1),
            start[2] + (end[2] - start[2]) * step // (steps - 1),
        )
        for step in range(steps)
    ]


def draw_sun(draw: ImageDraw.ImageDraw, size: tuple[int, int], index: int) -> None:
    """Draws a disc, further left for each picture of a prompt."""
    width, height = size
    radius = min(size) * 0.14
    x, y = width * (0.82 - 0.07 * index), height * 0.26
    draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=(LAST_COLOUR + WHITE) // 2)


def draw_text(draw: ImageDraw.ImageDraw, size: tuple[int, int], text: str) -> None:
    """Draws the text in white, wrapped, ending near the bottom."""
    printable = "".join(character if character.isprintable() or character == "\n" else " " for character in text)
    letters = printable.encode(errors="replace").decode()
    font = scaled_font(max(10, min(size) // 18))
    columns = max(8, int(size[0] * 0.9 / font.getlength("n")))
    lines = [part for line in letters.splitlines() for part in textwrap.wrap(line, columns)]
    draw.multiline_text(
        (size[0] * 0.05, size[1] * 0.95), "\n".join(lines[-8:]), fill=WHITE, font=font, anchor="ld", spacing=8
    )


@lru_cache(maxsize=32)
def scaled_font(size: int) -> ImageFont.FreeTypeFont:
    """Returns Pillow's own font."""
    font = ImageFont.load_default(size)
    if not isinstance(font, ImageFont.FreeTypeFont):
        raise RuntimeError("Pillow was built without FreeType: its default font cannot be scaled.")
    return font
