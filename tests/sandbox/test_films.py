"""Films play: a decoder that is not ours reads what the muxer wrote."""

import io
from pathlib import Path

import av
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.films import CLIPS, FRAME_SIZES, Film


def opened(film: Film) -> av.container.InputContainer:
    return av.open(io.BytesIO(film.render()))


def test_a_film_has_the_frame_size_of_its_ratio_and_decodes_to_its_last_frame():
    for ratio, size in FRAME_SIZES.items():
        with opened(Film(ratio=ratio, seconds=3, sound=True)) as container:
            frames = list(container.decode(video=0))
        assert {(frame.width, frame.height) for frame in frames} == {size}, ratio
        assert len(frames) == 36
        assert frames[-1].time == pytest.approx(3 - 1 / 12)


def test_every_ratio_has_a_frame_size_of_its_own():
    assert len(set(FRAME_SIZES.values())) == len(FRAME_SIZES)
    for ratio, (width, height) in FRAME_SIZES.items():
        across, down = map(int, ratio.split(":"))
        assert width / height == pytest.approx(across / down, rel=0.01)


@settings(max_examples=25, deadline=None)
@given(seconds=st.integers(1, 86_400), sound=st.booleans())
def test_a_film_of_any_length_lasts_as_long_as_asked(seconds, sound):
    with opened(Film(ratio="16:9", seconds=seconds, sound=sound)) as container:
        assert container.duration / 1_000_000 == pytest.approx(seconds, abs=0.1)
        (video,) = container.streams.video
        assert float(video.duration * video.time_base) == pytest.approx(seconds, abs=0.1)


def test_a_film_has_a_sound_track_that_decodes_if_asked():
    with opened(Film(ratio="1:1", seconds=2, sound=True)) as container:
        frames = list(container.decode(audio=0))
    assert sum(frame.samples for frame in frames) / frames[0].sample_rate == pytest.approx(2, abs=0.15)


def test_a_film_has_no_sound_track_unless_asked():
    with opened(Film(ratio="1:1", seconds=2, sound=False)) as container:
        assert not container.streams.audio


def test_the_longest_film_stays_small():
    assert len(Film(ratio="16:9", seconds=86_400, sound=False).render()) < 500_000


def test_the_index_comes_before_the_media():
    film = Film(ratio="16:9", seconds=1, sound=True).render()
    assert film.index(b"moov") < film.index(b"mdat")


def test_the_shipped_clips_are_small():
    assert sum(path.stat().st_size for path in Path(CLIPS).iterdir() if path.is_file()) < 100_000
