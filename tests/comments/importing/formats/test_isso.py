"""Isso: its database, and a real file of its generic JSON."""

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from chalicelib.comments.importing.formats import isso
from chalicelib.comments.importing.shapes import ImportedAuthor, ImportedThread
from chalicelib.foreign.broken import BrokenFile
from tests.comments.importing.support.reading import (
    comment,
    comments,
    facts,
    read,
    skipped,
    threads,
)
from tests.comments.importing.support.written_files import ISSO_TABLES

FILE = Path(__file__).with_name("files") / "isso.json"
AT = 1_593_691_200.75
ROW = {
    "tid": 1,
    "id": 1,
    "parent": None,
    "created": AT,
    "modified": None,
    "mode": 1,
    "text": "*words*",
    "author": "Ann",
    "email": "Ann@mail.example",
    "likes": 0,
    "dislikes": 0,
}


def database(folder: Path, *rows: dict[str, Any]) -> bytes:
    """Return the bytes of a database with a thread and these comments."""
    path = folder / "comments.db"
    made = sqlite3.connect(path)
    made.executescript(ISSO_TABLES)
    made.execute("INSERT INTO threads VALUES (1, '/posts/1/', 'Post')")
    for row in ({**ROW, **each} for each in rows):
        names = ", ".join(row)
        values = ", ".join(f":{name}" for name in row)
        made.execute(f"INSERT INTO comments ({names}) VALUES ({values})", row)  # noqa: S608
    made.commit()
    made.close()
    return path.read_bytes()


def test_a_real_file_comes_over_item_by_item() -> None:
    items = read("isso", FILE.read_bytes())

    assert threads(items) == [
        ImportedThread(key="/posts/0001/", url="/posts/0001/", title="Test post", locked=False),
        ImportedThread(key="/posts/0007/", url="/posts/0007/", title="Nat & Miguel", locked=False),
    ]
    first, second = comments(items)
    assert facts(first, "thread", "key", "parent", "posted", "text") == (
        "/posts/0001/",
        "0",
        None,
        datetime(2005, 2, 24, 4, 3, 37, tzinfo=UTC),
        "Great men can't be ruled. by free online poker",
    )
    assert second.author == ImportedAuthor(
        account=None, name="Richard Crinshaw", email="105421439@87750645.com"
    )


ENDLESS = """
    DROP TABLE comments;
    CREATE VIEW Comments AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)
        SELECT x AS tid, x AS id, x AS parent, x AS created, x AS modified, x AS mode, x AS text,
            x AS author, x AS email, x AS likes, x AS dislikes FROM c WHERE x < 0;
"""


def test_a_view_is_no_table_of_isso(tmp_path: Path) -> None:
    """It could go on without an end before its first row."""
    database(tmp_path, {})
    with closing(sqlite3.connect(tmp_path / "comments.db")) as made:
        made.executescript(ENDLESS)
    content = (tmp_path / "comments.db").read_bytes()

    with pytest.raises(BrokenFile, match="tables"):
        read("isso", content)


def test_a_row_that_takes_too_long_ends_the_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isso, "_SECONDS_A_ROW", -1.0)
    monkeypatch.setattr(isso, "_STEPS_A_LOOK", 1)

    with pytest.raises(BrokenFile, match="interrupted"):
        read("isso", database(tmp_path, {}))


@pytest.mark.parametrize(("mode", "state"), [(1, "visible"), (2, "pending"), (4, "deleted")])
def test_each_mode_is_a_state(tmp_path: Path, mode: int, state: str) -> None:
    found = comment(read("isso", database(tmp_path, {"mode": mode})))

    assert found.state == state
    assert found.text == ("" if state == "deleted" else "*words*")


def test_votes_times_and_parents_come_over(tmp_path: Path) -> None:
    rows = ({"likes": 5, "dislikes": 2}, {"id": 2, "parent": 1, "modified": AT + 60})

    root, reply = comments(read("isso", database(tmp_path, *rows)))

    assert facts(root, "ups", "downs", "votes", "edited") == (5, 2, (), None)
    assert root.posted == datetime(2020, 7, 2, 12, 0, 0, 750_000, tzinfo=UTC)
    assert facts(reply, "parent", "edited") == (
        "1",
        datetime(2020, 7, 2, 12, 1, 0, 750_000, tzinfo=UTC),
    )
    assert root.author == ImportedAuthor(account=None, name="Ann", email="ann@mail.example")


def test_a_comment_without_its_thread_is_skipped(tmp_path: Path) -> None:
    items = read("isso", database(tmp_path, {}, {"id": 2, "tid": 9, "text": "lost"}))

    assert skipped(items) == [("unknown_thread", "lost")]
    assert len(comments(items)) == 1


def test_bytes_that_are_no_text_stay_readable(tmp_path: Path) -> None:
    database(tmp_path, {}, {"id": 2, "text": "nul\x00l"})
    path = tmp_path / "comments.db"
    changed = sqlite3.connect(path)
    changed.execute("UPDATE comments SET text = CAST(x'4772fc6e' AS TEXT) WHERE id = 1")
    changed.commit()
    changed.close()

    found = comments(read("isso", path.read_bytes()))

    assert [each.text for each in found] == ["Gr\ufffdn", "null"]


def test_a_database_without_the_tables_is_broken(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    made = sqlite3.connect(path)
    made.execute("CREATE TABLE other (x)")
    made.close()

    with pytest.raises(BrokenFile, match="no such table"):
        read("isso", path.read_bytes())


def test_a_thread_without_an_id_is_skipped() -> None:
    file = json.dumps([{"comments": [{"id": 1}], "title": "x"}, {"id": "/a/", "comments": [{}]}])

    assert skipped(read("isso", file)) == [("no_address", "x"), ("no_id", "{}")]


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("C++ and 100%25 fun", "C++ and 100%25 fun"),
        ("C++", "C++"),
        ("Test+post", "Test post"),
        ("Nat+%26+Miguel", "Nat & Miguel"),
    ],
)
def test_a_title_is_decoded_where_the_file_has_form_encoded_titles(title: str, shown: str) -> None:
    file = json.dumps([{"id": "/a/", "title": title, "comments": []}])

    assert [each.title for each in threads(read("isso", file))] == [shown]


def test_names_are_html_and_texts_are_not(tmp_path: Path) -> None:
    """Isso escapes names when it stores them, and shows them as they are stored."""
    row = {"author": "Ann &amp; Ben &lt;3", "text": "a &amp; b", "email": "a&amp;b@mail.example"}

    found = comment(read("isso", database(tmp_path, row)))

    assert found.author == ImportedAuthor(
        account=None, name="Ann & Ben <3", email="a&b@mail.example"
    )
    assert found.text == "a &amp; b"
