"""What `make screenshots` leaves in the repository."""

from tools.screenshots import renew


def test_only_pictures_that_documents_show_are_renewed(tmp_path):
    made, shown = tmp_path / "made", tmp_path / "shown"
    for folder, names in ((made, ("desk-now", "desk-tasks")), (shown, ("desk-now", "console-form-image"))):
        folder.mkdir()
        for name in names:
            (folder / f"{name}.png").write_bytes(folder.name.encode())
    renew(made, shown)
    assert {file.stem: file.read_bytes() for file in shown.iterdir()} == {
        "desk-now": b"made",
        "console-form-image": b"shown",
    }
