"""Files of any length in each format, all with the same discussion."""

import json
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any, BinaryIO

from tests.comments.importing.support.written_discussion import (
    COMMENTS_IN_THREAD,
    READERS,
    Written,
    discussion,
)


def write(name: str, count: int, file: BinaryIO, words: str = "") -> None:
    """Write a file of a format with a number of comments, each with some more words."""
    if name == "isso-sqlite":
        _write_sqlite(count, file, words)
        return
    file.writelines(part.encode() for part in WRITERS[name](count, words))


def _isso(count: int, words: str) -> Iterator[str]:
    opening = "["
    members: list[str] = []
    for each in discussion(count, words):
        record = {
            "email": each.email,
            "remote_addr": "0.0.0.0",  # noqa: S104 - an address of a reader
            "website": "",
            "created": each.posted_as("%Y-%m-%d %H:%M:%S"),
            "author": each.name,
            "id": int(each.key),
            "parent": each.parent and int(each.parent),
            "text": each.text,
        }
        members.append(json.dumps(record))
        if each.number == count - 1 or (each.number + 1) % COMMENTS_IN_THREAD == 0:
            title = each.title.replace("&", "%26").replace(" ", "+")
            yield f'{opening}{{"comments": [{", ".join(members)}], '
            yield f'"id": "{each.path}", "title": "{title}"}}'
            opening, members = ",\n", []
    yield "]"


def _disqus(count: int, words: str) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="utf-8"?>\n<disqus xmlns="http://disqus.com" '
    yield 'xmlns:dsq="http://disqus.com/disqus-internals">\n'
    for each in discussion(count):
        if each.is_first:
            yield f'<thread dsq:id="9{each.thread}"><id>{each.path}</id>'
            yield f"<link>https://blog.example{each.path}</link>"
            yield f"<title>{escape(each.title)}</title><message/>"
            yield "<isClosed>false</isClosed><isDeleted>false</isDeleted></thread>\n"
    for each in discussion(count, words):
        yield f'<post dsq:id="{each.key}"><id/><message><![CDATA[<p>{each.text}</p>]]></message>'
        yield f"<createdAt>{each.posted_as('%Y-%m-%dT%H:%M:%SZ')}</createdAt>"
        yield "<isDeleted>false</isDeleted><isSpam>false</isSpam>"
        yield f"<author><name>{each.name}</name><email>{each.email}</email>"
        yield f"<isAnonymous>false</isAnonymous><username>{each.account}</username></author>"
        yield f'<thread dsq:id="9{each.thread}"/>'
        yield (f'<parent dsq:id="{each.parent}"/>' if each.parent else "") + "</post>\n"
    yield "</disqus>\n"


def _wordpress(count: int, words: str) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0" '
    yield 'xmlns:wp="http://wordpress.org/export/1.2/">\n<channel><title>Blog</title>\n'
    for each in discussion(count, words):
        if each.is_first:
            yield "</item>\n" if each.number else ""
            yield f"<item><title>{escape(each.title)}</title>"
            yield f"<link>https://blog.example{each.path}</link>"
            yield f"<wp:post_id>{each.thread + 7}</wp:post_id>"
            yield "<wp:comment_status>open</wp:comment_status>\n"
        yield f"<wp:comment><wp:comment_id>{each.key}</wp:comment_id>"
        yield f"<wp:comment_author><![CDATA[{each.name}]]></wp:comment_author>"
        yield f"<wp:comment_author_email>{each.email}</wp:comment_author_email>"
        posted = each.posted_as("%Y-%m-%d %H:%M:%S")
        yield f"<wp:comment_date_gmt>{posted}</wp:comment_date_gmt>"
        yield f"<wp:comment_content><![CDATA[{each.text}]]></wp:comment_content>"
        yield "<wp:comment_approved>1</wp:comment_approved><wp:comment_type>comment"
        yield f"</wp:comment_type><wp:comment_parent>{each.parent or 0}</wp:comment_parent>"
        yield "</wp:comment>\n"
    yield "</item></channel></rss>\n"


def _remark42(count: int, words: str) -> Iterator[str]:
    readers = [{"id": f"account-{n}", "blocked": {}} for n in range(READERS)]
    yield json.dumps({"version": 1, "users": readers, "posts": []}) + "\n"
    for each in discussion(count, words):
        record = {
            "id": each.key,
            "pid": each.parent or "",
            "text": f"<p>{each.text}</p>",
            "orig": each.text,
            "user": {"name": each.name, "id": each.account, "picture": "", "ip": ""},
            "locator": {"site": "blog", "url": f"https://blog.example{each.path}"},
            "score": 0,
            "votes": {},
            "time": each.posted_as("%Y-%m-%dT%H:%M:%S.000000000Z"),
            "title": each.title,
        }
        yield json.dumps(record) + "\n"


def _commento(count: int, words: str) -> Iterator[str]:
    yield '{"version": 1, "comments": ['
    for each in discussion(count, words):
        record = {
            "commentHex": each.key,
            "domain": "blog.example",
            "path": each.path,
            "commenterHex": each.account,
            "markdown": each.text,
            "html": f"<p>{each.text}</p>",
            "parentHex": each.parent or "root",
            "score": 0,
            "state": "approved",
            "creationDate": each.posted_as("%Y-%m-%dT%H:%M:%SZ"),
            "deleted": False,
        }
        yield (",\n" if each.number else "") + json.dumps(record)
    yield '], "commenters": ['
    for each in discussion(count):
        record = {"commenterHex": each.account, "email": each.email, "name": each.name}
        yield (",\n" if each.number else "") + json.dumps(record)
    yield "]}"


def _twikoo_record(each: Written) -> dict[str, Any]:
    return {
        "_id": each.key,
        "nick": each.name,
        "mail": each.email,
        "mailMd5": "",
        "url": each.path,
        "href": f"https://blog.example{each.path}",
        "comment": f"<p>{each.text}</p>",
        "pid": each.parent or "",
        "rid": each.parent or "",
        "isSpam": False,
        "created": int(each.posted.timestamp() * 1000),
    }


def _array(records: Iterator[Mapping[str, Any]]) -> Iterator[str]:
    opening = "["
    for each in records:
        yield opening + json.dumps(each)
        opening = ",\n"
    yield "]"


def _twikoo(count: int, words: str) -> Iterator[str]:
    return _array(_twikoo_record(each) for each in discussion(count, words))


def _waline(count: int, words: str) -> Iterator[str]:
    yield '{"type": "waline", "version": 1, "tables": ["Comment", "Users"], "data": {"Comment": '
    yield from _array(
        {
            "objectId": each.key,
            "nick": each.name,
            "mail": each.email,
            "url": each.path,
            "comment": each.text,
            "pid": each.parent,
            "rid": each.parent,
            "status": "approved",
            "insertedAt": each.posted_as("%Y-%m-%dT%H:%M:%S.000Z"),
        }
        for each in discussion(count, words)
    )
    yield ', "Users": [{"objectId": "1", "display_name": "Admin"}]}}'


def _artalk(count: int, words: str) -> Iterator[str]:
    return _array(
        {
            "id": each.key,
            "rid": each.parent or "0",
            "content": each.text,
            "nick": each.name,
            "email": each.email,
            "is_pending": "false",
            "is_collapsed": "false",
            "created_at": each.posted_as("%Y-%m-%d %H:%M:%S +0000"),
            "vote_up": "0",
            "vote_down": "0",
            "page_key": each.path,
            "page_title": each.title,
            "page_admin_only": "false",
            "site_name": "blog",
        }
        for each in discussion(count, words)
    )


def _github_comment(each: Written) -> dict[str, Any]:
    return {
        "id": each.key,
        "author": {"login": each.name},
        "body": each.text,
        "createdAt": each.posted_as("%Y-%m-%dT%H:%M:%SZ"),
        "isMinimized": False,
    }


def _github(count: int, words: str) -> Iterator[str]:
    yield '{"data": {"repository": {"discussions": {"nodes": ['
    root: dict[str, Any] | None = None
    for each in discussion(count, words):
        if each.is_first:
            yield f"{json.dumps(root)}]}}}},\n" if root else ""
            root = None
            page = f"https://blog.example{each.path}"
            head = {"id": f"D_{each.thread}", "title": each.title, "body": f"[{page}]({page})"}
            yield json.dumps(head)[:-1] + ', "locked": false, "comments": {"nodes": ['
        if each.parent and root:
            root["replies"] = {"nodes": [_github_comment(each)]}
        else:
            yield f"{json.dumps(root)},\n" if root else ""
            root = _github_comment(each)
    yield f"{json.dumps(root)}]}}}}]}}}}}}}}"


def _plaza(count: int, words: str) -> Iterator[str]:
    at = "2026-11-26T20:00:00.000Z"
    yield json.dumps({"plaza": 1, "kind": "export", "site": "blog", "at": at}) + "\n"
    threads = 0
    for each in discussion(count, words):
        if each.is_first:
            threads += 1
            url = f"https://blog.example{each.path}"
            node = {"kind": "node", "id": f"blog:{each.thread}", "url": url, "title": each.title}
            yield json.dumps({**node, "locked": False}) + "\n"
        record: dict[str, Any] = {
            "kind": "comment",
            "id": each.key,
            "parent": each.parent,
            "posted": each.posted_as("%Y-%m-%dT%H:%M:%S.000Z"),
            "edited": None,
            "author": {"id": each.account, "name": each.name},
            "text": each.text,
            "state": "visible",
            "up": 0,
            "down": 0,
            "votes": [],
        }
        yield json.dumps(record) + "\n"
    yield json.dumps({"kind": "end", "nodes": threads, "comments": count}) + "\n"


WRITERS: Mapping[str, Callable[[int, str], Iterator[str]]] = {
    "artalk": _artalk,
    "commento": _commento,
    "disqus": _disqus,
    "github": _github,
    "isso": _isso,
    "plaza": _plaza,
    "remark42": _remark42,
    "twikoo": _twikoo,
    "waline": _waline,
    "wordpress": _wordpress,
}
# The database of Isso is the same format as its JSON.
NAMES = (*WRITERS, "isso-sqlite")


def format_of(name: str) -> str:
    """Return the name of a written file's format."""
    return name.removesuffix("-sqlite")


def _write_sqlite(count: int, file: BinaryIO, words: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "comments.db"
        database = sqlite3.connect(path)
        database.executescript(ISSO_TABLES)
        for each in discussion(count, words):
            if each.is_first:
                row = (each.thread + 1, each.path, each.title)
                database.execute("INSERT INTO threads VALUES (?, ?, ?)", row)
            database.execute(
                "INSERT INTO comments (tid, id, parent, created, mode, text, author, email, "
                "likes, dislikes) VALUES (?, ?, ?, ?, 1, ?, ?, ?, 0, 0)",
                (
                    each.thread + 1,
                    int(each.key),
                    each.parent and int(each.parent),
                    each.posted.timestamp(),
                    each.text,
                    each.name,
                    each.email,
                ),
            )
        database.commit()
        database.close()
        file.write(path.read_bytes())


# As Isso makes them.
ISSO_TABLES = """
    CREATE TABLE threads (id INTEGER PRIMARY KEY, uri VARCHAR(256) UNIQUE, title VARCHAR(256));
    CREATE TABLE comments (
        tid REFERENCES threads(id), id INTEGER PRIMARY KEY, parent INTEGER, created FLOAT NOT NULL,
        modified FLOAT, mode INTEGER, remote_addr VARCHAR, text VARCHAR NOT NULL, author VARCHAR,
        email VARCHAR, website VARCHAR, likes INTEGER DEFAULT 0, dislikes INTEGER DEFAULT 0,
        voters BLOB, notification INTEGER DEFAULT 0);
"""
