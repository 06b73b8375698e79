"""Pictures and files are found wherever they stand and however they are written; what is in doubt is the dearer."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.families.requests import contents, reading

BASE64 = "QUFB" * 2_500
PNG, PDF, TEXT = (f"data:{kind};base64,{BASE64}" for kind in ("image/png", "application/pdf", "text/csv"))
ROOTS = ("messages",)


def image_source(**source) -> dict:
    return {"type": "image", "source": source}


def document_of(**source) -> dict:
    return {"type": "document", "source": source}


PICTURES = {
    "chat": {"type": "image_url", "image_url": {"url": PNG}},
    "chat, by address": {"type": "image_url", "image_url": {"url": "https://a.example/b"}},
    "chat, as a text": {"type": "image_url", "image_url": PNG},
    "another writing": {"type": "image_url", "IMAGE_URL": {"url": PNG}},
    "responses": {"type": "input_image", "image_url": PNG},
    "a screenshot": {"type": "computer_call_output", "output": {"type": "computer_screenshot", "image_url": PNG}},
    "what a function returned": {"type": "function_call_output", "output": [{"type": "input_image", "image_url": PNG}]},
    "a picture made before": {"type": "image_generation_call", "result": BASE64},
    "messages": image_source(type="base64", media_type="image/png", data=BASE64),
    "messages, by address": image_source(type="url", url="https://a.example/b"),
    "in a tool's result": {"type": "tool_result", "content": [image_source(type="base64", data=BASE64)]},
    "in a document of parts": document_of(type="content", content=[image_source(type="base64", data=BASE64)]),
    "gemini": {"inlineData": {"mimeType": "image/png", "data": BASE64}},
    "gemini, in the other spelling": {"inline_data": {"mime_type": "IMAGE/JPEG", "data": BASE64}},
    "in a function's response": {"functionResponse": {"parts": [{"inlineData": {"mimeType": "image/png"}}]}},
    "without a holder": {"type": "image", "data": BASE64},
    "of a message": {"role": "user", "images": [BASE64]},
}
FILES = {
    "chat": {"type": "file", "file": {"file_data": PDF, "filename": "a.pdf"}},
    "a picture in a file's place": {"type": "file", "file": {"file_data": PNG}},
    "a file in a picture's place": {"type": "image_url", "image_url": {"url": PDF}},
    "a text in a picture's place": {"type": "image_url", "image_url": {"url": TEXT}},
    "a picture in a film's part": {"type": "video", "image_url": PNG},
    "a film": {"type": "video_url", "video_url": {"url": "https://a.example/b"}},
    "responses": {"type": "input_file", "file_data": PDF},
    "responses, by address": {"type": "input_file", "file_url": "https://a.example/b.txt"},
    "responses, by half an address": {"type": "input_file", "file_url": "a.example/b", "filename": "b.txt"},
    "by its name": {"type": "input_file", "file_data": BASE64, "filename": "b.pdf"},
    "a text by what is said, a PDF by its name": {"type": "input_file", "file_data": TEXT, "filename": "b.PDF"},
    "a text by what is said, a PDF by its bytes": {
        "type": "input_file",
        "file_data": "data:text/plain;base64,JVBERi0=",
    },
    "of no kind": {"type": "input_file", "file_data": BASE64},
    "messages": document_of(type="base64", media_type="application/pdf", data=BASE64),
    "messages, by address": document_of(type="url", url="https://a.example/b.txt"),
    "a picture in a document": document_of(type="base64", media_type="image/png", data=BASE64),
    "a document in a picture": image_source(type="base64", media_type="application/pdf", data=BASE64),
    "gemini": {"inlineData": {"mimeType": "application/pdf", "data": BASE64}},
    "an archive of no text": {"inlineData": {"mimeType": "application/x-zip-compressed", "data": BASE64}},
    "an office's document": {
        "inlineData": {"mimeType": "application/vnd.openxmlformats-officedocument.wordprocessingml.document"}
    },
    "gemini, of no kind": {"inlineData": {"data": BASE64}},
    "gemini, of two kinds": {"inlineData": {"mimeType": "image/png", "mime_type": "text/csv", "data": BASE64}},
    "gemini, by address": {"fileData": {"fileUri": "https://a.example/b", "mimeType": "image/png"}},
    "gemini, in the other spelling": {"file_data": {"file_uri": "https://a.example/b"}},
}
SOUNDS = {
    "gemini, by address": {"fileData": {"mimeType": "audio/mp3", "fileUri": "https://a.example/b"}},
    "gemini, by its ending": {"fileData": {"fileUri": "https://a.example/b.mp3"}},
    "a file of sound": {"type": "file", "file": {"file_data": f"data:audio/mp3;base64,{BASE64}"}},
    "a file of sound by address": {"type": "input_file", "file_url": "https://a.example/b.wav"},
    "chat": {"type": "input_audio", "input_audio": {"data": BASE64, "format": "wav"}},
    "by address": {"type": "audio_url", "audio_url": {"url": "https://a.example/b"}},
    "gemini": {"inlineData": {"mimeType": "audio/mp3", "data": BASE64}},
    "without a holder": {"type": "audio", "data": BASE64},
}
TEXTS = {
    "a text": {"type": "text", "text": PNG},
    "what a tool was asked": {"type": "tool_use", "name": "x", "input": {"source": {"data": BASE64}}},
    "what a function was asked": {"functionCall": {"args": {"inlineData": {"data": BASE64}}}},
    "what a function returned": {"functionResponse": {"response": {"fileData": {"fileUri": "https://a.example"}}}},
    "a text as a document": document_of(type="text", media_type="text/plain", data="AAAA " + BASE64),
    "a text as a document of no kind": document_of(type="text", data="x"),
    "a text in base64": {"inlineData": {"mimeType": "application/json", "data": BASE64}},
    "a program in base64": {"inlineData": {"mimeType": "application/x-python; charset=utf-8", "data": BASE64}},
    "a text as a file": {
        "type": "input_file",
        "file_data": "data:text/markdown;base64," + BASE64,
        "filename": "app.ts",
    },
    "a text by its name": {"type": "input_file", "file_data": BASE64, "filename": "notes.txt"},
    "a result of a search": {"type": "search_result", "source": "https://a.example", "content": []},
    "null": {"type": "message", "audio": None, "image_url": None},
}


def found(part: dict) -> contents.Contents:
    return contents.find_contents({"messages": [{"role": "user", "content": [part]}]}, ("messages",))


@pytest.mark.parametrize("place", PICTURES)
def test_a_picture_counts_as_one_and_not_by_its_bytes(place):
    held = found(PICTURES[place])
    assert (held.pictures, held.files) == (1, [])
    written = json.dumps(PICTURES[place])
    assert held.inline_bytes == (len(PNG) if PNG in written else len(BASE64) if BASE64 in written else 0)


@pytest.mark.parametrize("place", FILES)
def test_a_file_counts_as_a_file(place):
    held = found(FILES[place])
    assert (held.pictures, len(held.files), held.sounds) == (0, 1, [])


@pytest.mark.parametrize("place", SOUNDS)
def test_a_sound_counts_as_a_file_and_as_sound(place):
    held = found(SOUNDS[place])
    assert (held.pictures, len(held.files), len(held.sounds)) == (0, 1, 1)


def test_any_file_may_have_sound_and_pictures_in_it():
    film = {"input": [{"fileData": {"mimeType": "video/mp4", "fileUri": "https://a.example/b"}}]}
    held = contents.find_contents(film, ["input"])
    asked = reading.build_call(film, b"{}", held, model="m", is_stream=False)
    assert (held.sounds, asked.amounts, asked.file_path) == ([], {"audio_input", "image_input"}, "input[0].fileData")


@pytest.mark.parametrize("place", TEXTS)
def test_what_is_read_as_text_counts_by_its_bytes(place):
    assert found(TEXTS[place]) == contents.Contents()


def test_things_are_told_in_the_order_and_at_the_place_where_they_stand():
    said = {"system": [FILES["messages"]], "messages": [{"content": [PICTURES["chat"], FILES["chat"]]}]}
    assert contents.find_contents(said, ("system", "messages")).files == [
        ("system", 0, "source"),
        ("messages", 0, "content", 1, "file"),
    ]


def test_no_root_is_no_place_for_a_file():
    assert contents.find_contents({"tool": PICTURES["gemini"]}, ("messages",)) == contents.Contents()


@pytest.mark.parametrize(
    ("part", "last"),
    [
        ({"type": "file", "file": {"file_id": "f"}}, "file_id"),
        ({"type": "input_image", "File_ID": "f"}, "File_ID"),
        ({"role": "assistant", "audio": {"id": "a"}}, "id"),
    ],
)
def test_objects_of_an_account_are_found(part, last):
    assert [trail[-1] for trail in found(part).stored] == [last]


@pytest.mark.parametrize(
    "part",
    [
        {"content": [{"type": "output_text", "annotations": [{"type": "file_path", "file_id": "f"}]}]},
        {"type": "file_search_call", "results": [{"file_id": "f", "text": "x"}]},
        {"role": "assistant", "annotations": [{"file_citation": {"file_id": "f"}}]},
        {"type": "text", "text": "x", "citations": [{"type": "char_location", "file_id": "f"}]},
    ],
)
def test_objects_that_are_cited_are_not_asked_for(part):
    assert found(part) == contents.Contents()


@pytest.mark.parametrize(
    "said", ["image/png, audio/wav", "IMAGE/PNG;x,Audio/mp3", "image/png application/pdf", "image/"]
)
def test_a_thing_of_several_media_types_is_no_picture(said):
    call = found({"inlineData": {"mimeType": said, "data": "QUFB"}})
    assert (call.pictures, len(call.files), len(call.sounds)) == (0, 1, int("audio" in said.lower()))


@pytest.mark.parametrize("said", ["image/png", "image/svg+xml; charset=utf-8", "Image/*"])
def test_a_picture_is_one_with_parameters_too(said):
    assert found({"inlineData": {"mimeType": said, "data": "QUFB"}}).pictures == 1


WAV, AVI = ("UklGRiQAAABXQVZFZm10IBAAAAAB", "UklGRiQAAABBVkkgTElTVBAAAAAB")


@pytest.mark.parametrize(
    ("part", "kinds"),
    [
        ({"type": "image_url", "image_url": {"url": "data:audio/wav;base64,AAAA"}}, (0, 1, 1)),
        ({"type": "input_image", "image_url": "https://a.example/b.mp3"}, (0, 1, 1)),
        (
            {"type": "audio", "source": {"type": "base64", "media_type": "application/octet-stream", "data": "AA"}},
            (0, 1, 1),
        ),
        ({"type": "document", "source": {"type": "base64", "media_type": "audio/mpeg", "data": "AA"}}, (0, 1, 1)),
        ({"type": "image", "source": {"type": "base64", "media_type": "audio/mpeg", "data": "AA"}}, (0, 1, 1)),
        ({"inlineData": {"mimeType": "application/ogg", "data": "AA"}}, (0, 1, 1)),
        ({"inlineData": {"mimeType": "application/octet-stream", "data": WAV}}, (0, 1, 1)),
        ({"inlineData": {"data": WAV}}, (0, 1, 1)),
        ({"inlineData": {"data": "SUQzBAAAAAAA"}}, (0, 1, 1)),
        ({"inlineData": {"data": AVI}}, (0, 1, 0)),
        ({"inlineData": {"mimeType": "video/mp4", "data": "AAAA"}}, (0, 1, 0)),
        ({"inlineData": {"mimeType": "image/webp", "data": "UklGRiQAAABXRUJQVlA4"}}, (1, 0, 0)),
    ],
)
def test_sound_is_sound_in_whatever_part(part, kinds):
    call = found(part)
    assert (call.pictures, len(call.files), len(call.sounds)) == kinds


@pytest.mark.parametrize("kind", ["tool_definition", "tool_reference", None])
def test_a_definition_of_a_tool_is_judged_whatever_holds_it(kind):
    added = {"type": "tool_addition", "tool": {"type": kind, "definition": {"type": "web_search_20250305"}}}
    assert found(added).definitions[0][1] == {"type": "web_search_20250305"}


@pytest.mark.parametrize("ttl", ["1h", "60m", 3600, "24h"])
def test_a_longer_cache_is_found(ttl):
    part = {"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": ttl}}
    assert [trail[-1] for trail in found(part).long_caches] == ["cache_control"]


@pytest.mark.parametrize("control", [{"type": "ephemeral"}, {"ttl": "5m"}, {"ttl": None}, "1h"])
def test_the_usual_cache_is_not(control):
    assert found({"type": "text", "text": "x", "cache_control": control}).long_caches == []


@pytest.mark.parametrize("odd", [{"type": []}, {"type": {}, "image_url": 1}, {"source": [[None]]}, {"input": 1}, 5])
def test_odd_types_do_no_harm(odd):
    assert contents.find_contents({"messages": odd}, ("messages",)).inline_bytes == 0


def test_a_call_counts_its_text_by_bytes_and_its_pictures_by_their_number():
    said = {"messages": [{"content": [PICTURES["chat"], PICTURES["chat"]]}], "tools": [{}]}
    raw = json.dumps(said).encode()
    call = reading.build_call(said, raw, contents.find_contents(said, ("messages",)), model="m", is_stream=False)
    assert (call.pictures_in, call.file_path) == (2, "")
    assert call.input_bound == len(raw) - 2 * len(PNG) + 2_048
    assert call.input_estimate == -(-call.input_bound // 4) + 2_000


WRITINGS = st.sampled_from(["image_url", "imageUrl", "IMAGE_URL", "Image_Url", "image"])
PARTS = st.recursive(
    st.builds(lambda name: {"type": "input_image", name: PNG}, WRITINGS) | st.just({"type": "text", "text": PNG}),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["content", "output", "x"]), inner),
)


@given(parts=PARTS)
def test_no_picture_is_missed_however_deep_it_stands(parts):
    written = json.dumps(parts).count('"input_image"')
    held = contents.find_contents({"messages": parts}, ("messages",))
    assert (held.pictures, held.inline_bytes) == (written, written * len(PNG))


@pytest.mark.parametrize(
    "address",
    [
        "https://a.example/b.mp4", "https://a.example/b.PDF?size=1", "http://a.example/b.mp3", "gs://bucket/b",
        "https://www.youtube.com/watch?v=1", "https://youtu.be/1", " https://a.example/b.docx",
    ],
)  # fmt: skip
def test_a_film_or_a_document_under_the_name_of_a_picture_counts_as_a_file(address):
    held = contents.find_contents(
        {"messages": [{"content": [{"type": "image_url", "image_url": {"url": address}}]}]}, ROOTS
    )
    assert (held.pictures, len(held.files)) == (0, 1)


@pytest.mark.parametrize(
    "address", ["https://a.example/b.png", "https://a.example/show.php?id=b.pdf", "https://a.example"]
)
def test_any_other_address_of_a_picture_is_one(address):
    held = contents.find_contents(
        {"messages": [{"content": [{"type": "image_url", "image_url": {"url": address}}]}]}, ROOTS
    )
    assert (held.pictures, held.files) == (1, [])
