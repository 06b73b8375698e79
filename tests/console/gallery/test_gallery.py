"""The gallery: whose results hang in it, in which order, how they show, and what is gone."""

import re
from datetime import UTC, date, datetime, timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from common import ids
from console.gallery import finding, gallery_query, tiles
from console.gallery.gallery_query import GalleryQuery
from tasks.assets import retention
from tasks.models import Asset, Task, TaskPayload
from tasks.shown import exhibits
from tests.desk.reading import words_of
from tests.desk.test_admin_pages import InlineFinder
from tests.rows import IssuedKey, make_task
from tests.tasks import steps

pytestmark = pytest.mark.django_db

GALLERY = "/console/gallery/"
HTML = "<script>alert(1)</script></template></dialog><img src=x onerror=alert(1)><svg onload=alert(1)>\"'"
BIDI = "\u202egnp.exe\u2066\u200f"


def hang(key: IssuedKey, *, prompt: str | None = "a fox", files: int = 1, asset=None, **fields) -> Task:
    """A succeeded task with so many pictures."""
    task = make_task(key, **fields)
    TaskPayload.objects.create(task=task, params=None if prompt is None else {"prompt": prompt})
    shown = {
        "kind": "image",
        "content_type": "image/png",
        "width": 640,
        "height": 480,
        "size_bytes": 9,
        **(asset or {}),
    }
    for position in range(files):
        Asset.objects.create(task=task, position=position, storage_key=f"{task.id}-{position}", sha256="s", **shown)
    return task


def hung(answer) -> list[str]:
    """The names of the tiles, in their order."""
    assert answer.status_code == 200
    return re.findall(r'<li class="tile [^"]*" id="([^"]+)"', answer.content.decode())


def test_the_newest_hang_first_with_every_file_of_theirs(key, visitor):
    first, second = hang(key), hang(key, files=2)
    assert hung(visitor.get(GALLERY)) == [f"{second.id}-1", f"{second.id}-2", f"{first.id}-1"]


def test_another_keys_results_hang_in_its_own_gallery_alone(key, other_key, visitor, sign_in):
    mine, others = hang(key), hang(other_key)
    page = visitor.get(GALLERY)
    assert hung(page) == [f"{mine.id}-1"]
    assert others.id not in page.content.decode()
    assert hung(sign_in(other_key).get(GALLERY)) == [f"{others.id}-1"]


def test_what_has_not_succeeded_or_is_in_no_list_does_not_hang(key, visitor):
    for status in ("queued", "running", "failed", "timeout", "canceled"):
        hang(key, status=status)
    hang(key, origin="sync")
    assert hung(visitor.get(GALLERY)) == []


def test_files_that_are_gone_are_not_shown_and_the_page_says_how_long_they_are_kept(key, visitor, settings):
    settings.ASSET_RETENTION = 2 * 86_400
    old, deleted, half = hang(key), hang(key), hang(key, files=2)
    Asset.objects.filter(task=old).update(created_at=F("created_at") - timedelta(days=2))
    retention.delete_now(key.id, deleted.id)
    Asset.objects.filter(task=half, position=0).update(deleted_at=timezone.now())
    page = visitor.get(GALLERY)
    assert hung(page) == [f"{half.id}-2"]
    assert "Files are kept for 2 days" in words_of(page)
    settings.ASSET_RETENTION = 0
    page = visitor.get(GALLERY)
    assert hung(page) == [f"{half.id}-2", f"{old.id}-1"]
    assert "kept until you delete them" in words_of(page)


def test_pages_follow_each_other_by_a_link_and_skip_nothing(key, visitor, monkeypatch):
    monkeypatch.setattr(finding, "MOST_TASKS", 2)
    monkeypatch.setattr(finding, "MOST_FILES", 3)
    works = [hang(key, files=files) for files in (1, 2, 2, 9, 1)][::-1]
    seen, query = [], ""
    while query is not None:
        answer = visitor.get(GALLERY + query)
        seen.append(hung(answer))
        older = re.search(r'href="(\?[^"]*)" rel="next"', answer.content.decode())
        query = older and older[1].replace("&amp;", "&")
    assert [name for page in seen for name in page] == [
        f"{work.id}-{number}" for work in works for number in range(1, work.assets.count() + 1)
    ]
    assert [len(page) for page in seen] == [1, 9, 2, 3]


def test_a_page_of_something_rare_looks_so_far_and_goes_on(key, monkeypatch):
    monkeypatch.setattr(finding, "SCANNED", 3)
    rare = hang(key, model_name="mural-image")
    common = [hang(key) for _ in range(5)]
    first = finding.page(key.id, GalleryQuery(model="mural-image"))
    assert (first.works, first.older) == ((), common[2].id)
    second = finding.page(key.id, GalleryQuery(model="mural-image", before=first.older))
    assert [work.task_id for work in second.works] == [rare.id]
    assert second.older == rare.id
    assert finding.page(key.id, GalleryQuery(model="mural-image", before=rare.id)).older is None


def test_kind_and_model_choose_what_hangs_and_stay_with_the_link(key, visitor, image_model, monkeypatch):
    monkeypatch.setattr(finding, "MOST_TASKS", 1)
    film = {"kind": "video", "content_type": "video/mp4", "duration_seconds": 5.0}
    films = [hang(key, modality="video", model_name="comet-video", asset=film) for _ in range(2)]
    hang(key)
    answer = visitor.get(GALLERY, {"modality": "video", "model": "comet-video"})
    assert hung(answer) == [f"{films[1].id}-1"]
    text = answer.content.decode()
    assert f'href="?modality=video&amp;model=comet-video&amp;cursor={films[1].id}"' in text
    assert '<option value="video" selected>' in text
    assert "<option>aurora-image</option><option selected>comet-video</option>" in text
    assert hung(visitor.get(GALLERY, {"modality": "3d"})) == []


@pytest.mark.parametrize(
    ("query", "said"),
    [({"modality": "audio"}, "modality:"), ({"cursor": "task_1"}, "cursor:"), ({"model": "a\x00"}, "model:")],
)
def test_a_query_that_is_none_is_refused_with_its_name(visitor, query, said):
    answer = visitor.get(GALLERY, query)
    assert answer.status_code == 400
    assert said in words_of(answer)


def test_empty_galleries_teach(key, visitor):
    assert "Your results will appear here." in words_of(visitor.get(GALLERY))
    assert "Remove a filter." in words_of(visitor.get(GALLERY, {"modality": "3d"}))
    assert "This is the end." in words_of(visitor.get(GALLERY, {"cursor": ids.new_task_id()}))


def test_each_kind_of_file_shows_as_what_it_is(key, visitor):
    hang(key, asset={"content_type": "model/gltf-binary", "kind": "model", "width": None, "height": None})
    hang(key, asset={"content_type": "text/html", "kind": "model"})
    hang(key, asset={"content_type": "video/mp4", "kind": "video", "duration_seconds": 5.0})
    hang(key)
    page = visitor.get(GALLERY).content.decode().partition("<main")[2]
    (picture,) = re.findall(r"<img [^>]*>", page)
    assert 'width="640" height="480"' in picture
    assert 'decoding="async"' in picture
    (film,) = re.findall(r"<video [^>]*>", page)
    assert re.search(r'preload="none" muted loop playsinline', film)
    assert len(re.findall(r'<a class="button button-small save" href="/assets/[^"]*" download>', page)) == 2
    assert not re.search(r"<(img|video|iframe|embed)[^>]*\.bin", page)


def test_pictures_below_the_fold_load_when_they_are_near(key, visitor):
    hang(key, files=tiles.EAGER + 2)
    pictures = re.findall(r"<img [^>]*>", visitor.get(GALLERY).content.decode().partition("<main")[2])
    assert ['loading="lazy"' in picture for picture in pictures] == [False] * tiles.EAGER + [True] * 2


def test_what_a_customer_wrote_stays_text(key, visitor):
    prompt = f"{HTML} {BIDI} {{{{ 7*7 }}}} " + "x" * 10_000
    hang(key, prompt=prompt, model_name=f"{HTML}{BIDI}")
    hang(key, prompt=prompt, asset={"content_type": "video/mp4", "kind": "video"})
    answer = visitor.get(GALLERY)
    page = answer.content.decode()
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert InlineFinder(page).found == []
    assert "{{ 7*7 }}" in words_of(answer)
    assert "x" * 500 not in page
    for at in (match.start() for match in re.finditer(BIDI[:8], page)):
        box = page[page[:at].rfind("<") :]
        assert re.match(
            r'<(bdi>|p class="text prompt" dir="auto"|img src="/assets/|a href="/console/tasks/|option)', box
        )


def test_a_prompt_that_was_deleted_is_said_to_be(key, visitor):
    hang(key, prompt=None)
    page = visitor.get(GALLERY)
    assert "The prompt was deleted." in words_of(page)
    assert 'alt="Picture: by aurora-image"' in page.content.decode()


def test_a_longer_gallery_asks_no_more(key, visitor, django_assert_max_num_queries):
    for _ in range(45):
        hang(key)
    visitor.get(GALLERY)  # the catalog is read once
    with django_assert_max_num_queries(10) as few:
        assert len(hung(visitor.get(GALLERY))) == finding.MOST_TASKS
    about_tasks = [query["sql"] for query in few.captured_queries if "tasks_asset" in query["sql"]]
    assert len(about_tasks) == 2


@pytest.mark.parametrize(
    ("day", "said"),
    [
        (date(2026, 3, 1), "Today"),
        (date(2026, 2, 28), "Yesterday"),
        (date(2026, 2, 3), "3 February"),
        (date(2025, 12, 31), "31 December 2025"),
    ],
)
def test_a_day_is_told_in_words(day, said):
    assert tiles.day_in_words(day, date(2026, 3, 1)) == said


def test_days_are_those_of_utc(key):
    task = hang(key, created_at=datetime(2026, 11, 20, 23, 59, tzinfo=UTC))
    (day,) = tiles.days(finding.page(key.id, GalleryQuery()).works, datetime(2026, 11, 22, 0, 1, tzinfo=UTC))
    assert (day.title, day.pieces[0].work.task_id) == ("20 November", task.id)


@pytest.mark.parametrize(
    ("width", "height", "shape"), [(1024, 1024, 10), (1920, 1080, 18), (9, 16, 6), (1, 100, 5), (100, 1, 30)]
)
def test_a_tile_has_the_nearest_shape(key, width, height, shape):
    task = hang(key, asset={"width": width, "height": height})
    (file,) = exhibits.exhibits(list(task.assets.all()))
    assert tiles.shape(file) == shape


def test_a_shelf_and_its_query_are_the_same(visitor):
    shelf = GalleryQuery(modality="image", model="aurora-image", before=ids.new_task_id())
    assert gallery_query.read(gallery_query.query(shelf, before=shelf.before)) == shelf


def test_the_gallery_is_of_real_ends(key, visitor, image_model):
    worker = steps.worker()
    task = steps.start(key, worker)
    steps.end(task)
    page = visitor.get(GALLERY)
    assert hung(page) == [f"{task.id}-1"]
    assert "a fox" in words_of(page)
    assert "$0.04" in words_of(page)
