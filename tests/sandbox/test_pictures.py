"""Pictures decode, in the asked size and format, each prompt in its own colours."""

import io

from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageChops

from sandbox.pictures import SAVE_OPTIONS, Picture


def decoded(picture: Picture) -> Image.Image:
    image = Image.open(io.BytesIO(picture.render()))
    image.load()
    return image


def test_a_picture_has_the_asked_size_and_format():
    for output_format in SAVE_OPTIONS:
        image = decoded(Picture(prompt="a fox", width=1360, height=768, output_format=output_format))
        assert (image.size, image.format) == ((1360, 768), output_format.upper())


def test_the_prompt_is_drawn_on_the_picture():
    fox, empty = (decoded(Picture(prompt=prompt, width=320, height=320)) for prompt in ("a fox", ""))
    difference = ImageChops.difference(
        Image.frombytes("L", fox.size, fox.tobytes()), Image.frombytes("L", fox.size, empty.tobytes())
    )
    left, top, right, _bottom = difference.getbbox()
    assert top > 160
    assert right - left > 20


def test_prompts_and_the_pictures_of_one_prompt_differ():
    pictures = [Picture(prompt=prompt, width=320, height=320, index=index) for prompt in "ab" for index in (0, 1)]
    assert len({picture.render() for picture in pictures}) == 4


def test_the_same_picture_is_the_same_bytes():
    picture = Picture(prompt="a fox", width=320, height=320)
    assert picture.render() == picture.render()


@settings(max_examples=30, deadline=None)
@given(prompt=st.text(st.characters(), max_size=300))
def test_any_text_can_be_drawn(prompt):
    assert decoded(Picture(prompt=prompt, width=144, height=336)).size == (144, 336)
