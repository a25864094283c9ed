"""Isso with a discussion: posted by its own calls, exported as the copy of its database."""

import re
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from contract.beside.calls import Answer, Refused, call, next_millisecond, serving
from contract.beside.facts import Fact
from contract.beside.talk import Said
from deploy.declared import ROOT
from local.environments import environment
from local.mongod import free_port

REQUIREMENTS, ENVIRONMENT = ROOT / "requirements-beside.txt", ROOT / ".venv-beside"
SOURCE = ROOT / "contract" / "beside" / "isso.txt"
NAME = "isso"
_PATH = "/posts/beside/"
_PASSWORD = "of the administrator"  # noqa: S105 - of a server that lives for a minute
# Who was approved once needs no approval any more; all others wait.
_CONFIG = """
[general]
dbpath = {folder}/comments.db
host = http://127.0.0.1:{port}/
max-age = 1h
[admin]
enabled = true
password = {password}
[moderation]
enabled = true
approve-if-email-previously-approved = true
[server]
listen = http://127.0.0.1:{port}
trusted-proxies = 127.0.0.1
[guard]
enabled = false
[hash]
algorithm = none
[markup]
renderer = mistune
"""
_WAITING = re.compile(r"validate_com\((\d+), *'([^']+)'")


class _Posted(NamedTuple):
    """A comment that Isso has: its id, its answer, and the cookie of its author."""

    said: Said
    id: int
    body: Any
    cookie: str


class Isso:
    """A server of Isso, which a block of code has."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._port = folder, free_port()
        self._url = f"http://127.0.0.1:{self._port}"
        config = _CONFIG.format(folder=folder, port=self._port, password=_PASSWORD)
        (folder / "isso.cfg").write_text(config)

    def hold(self, talk: Sequence[Said]) -> tuple[Path, list[Fact]]:
        """Have a discussion; return its export and its facts, by the answers of Isso."""
        command = [str(_program()), "-c", str(self._folder / "isso.cfg"), "run"]
        with serving(command, f"{self._url}/config", self._folder):
            posted = self._post_all(talk)
            self._vote_all(posted)
            edited = {
                each.said.number: self._edit(each) for each in posted if each.said.fate == "edited"
            }
            for each in posted:
                if each.said.fate == "deleted":
                    self._delete(each)
        return self._folder / "comments.db", _facts(posted, edited)

    def _post_all(self, talk: Sequence[Said]) -> list[_Posted]:
        posted: list[_Posted] = []
        approved: set[str] = set()
        for said in talk:
            above = None if said.parent is None else posted[said.parent].id
            waits = said.fate in {"pending", "spam"}
            mail = f"new{said.number}@mail.example" if waits else _mail(said.author)
            next_millisecond()
            answer = self._post(said, above, mail)
            if not waits and mail not in approved:
                self._approve(answer.body["id"])
                approved.add(mail)
            posted.append(_Posted(said, answer.body["id"], answer.body, _cookie(answer)))
        return posted

    def _post(self, said: Said, above: int | None, mail: str) -> Answer:
        body = {
            "author": said.author,
            "email": mail,
            "text": said.text,
            "parent": above,
            "title": "Beside",
        }
        address = f"10.{said.number // 250}.{said.number % 250}.1"
        query = urllib.parse.urlencode({"uri": _PATH})
        return call("POST", f"{self._url}/new?{query}", body, **{"X-Forwarded-For": address})

    def _approve(self, comment: int) -> None:
        form = urllib.parse.urlencode({"password": _PASSWORD}).encode()
        # The cookie that it sets is for the page that it leads to.
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(f"{self._url}/login/", form, timeout=30) as reply:
            page = reply.read().decode()
        keys = dict(_WAITING.findall(page))
        if str(comment) not in keys:
            raise Refused(f"the page of the administrator has no comment {comment}")
        call("POST", f"{self._url}/id/{comment}/activate/{keys[str(comment)]}", {})

    def _vote_all(self, posted: Sequence[_Posted]) -> None:
        for each in posted:
            votes = ["like"] * each.said.ups + ["dislike"] * each.said.downs
            for number, vote in enumerate(votes):
                # Isso counts a vote of each network.
                address = {"X-Forwarded-For": f"172.16.{number}.1"}
                call("POST", f"{self._url}/id/{each.id}/{vote}", {}, **address)

    def _edit(self, posted: _Posted) -> Any:
        body = {"author": posted.said.author, "text": posted.said.edited_text}
        url = f"{self._url}/id/{posted.id}"
        return call("PUT", url, body, Cookie=posted.cookie).body

    def _delete(self, posted: _Posted) -> None:
        call("DELETE", f"{self._url}/id/{posted.id}", None, Cookie=posted.cookie)


def _program() -> Path:
    """Install Isso, once, from its source, with pinned packages; return its program."""
    programs = environment(ENVIRONMENT, REQUIREMENTS)
    program = programs / "isso"
    if not program.exists():
        made_by = ["--no-deps", "--no-build-isolation", "--require-hashes", "--system-certs"]
        target = ["--python", str(programs / "python"), "--requirement", str(SOURCE)]
        command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", *made_by, *target]
        subprocess.run(command, check=True)  # noqa: S603 - our own tool, and a pinned source
    return program


def _cookie(answer: Answer) -> str:
    return answer.headers["Set-Cookie"].partition(";")[0]


def _mail(author: str) -> str:
    return f"{author.encode().hex()}@mail.example"


def _facts(posted: Sequence[_Posted], edited: dict[int, Any]) -> list[Fact]:
    """Return the facts by their times: Isso posts none before the comment that it answers."""
    gone = {each.id for each in posted if each.said.fate == "deleted"}
    left = {each.id: each for each in posted}
    # A deleted comment stays as long as it has an answer.
    while unneeded := gone & left.keys() - {each.body["parent"] for each in left.values()}:
        for each in unneeded:
            del left[each]
    times = {each.id: _time(each) for each in posted}
    return [_fact(each, times, each.id in gone, edited) for each in left.values()]


def _time(posted: _Posted) -> int:
    return int(posted.body["created"] * 1_000)


def _fact(posted: _Posted, times: dict[int, int], is_gone: bool, edited: dict[int, Any]) -> Fact:  # noqa: FBT001
    said, above = posted.said, posted.body["parent"]
    text = said.edited_text if said.number in edited else said.text
    waits = said.fate in {"pending", "spam"}
    return Fact(
        times[posted.id],
        None if above is None else times[above],
        None if is_gone else said.author,
        None if is_gone else text,
        "deleted" if is_gone else "pending" if waits else "visible",
        # Isso keeps the votes on a deleted comment.
        said.ups,
        said.downs,
        None if is_gone else said.number in edited,
    )
