"""Waline with a discussion: posted by its own calls, exported as by its dashboard."""

import json
import urllib.parse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from contract.beside.calls import Refused, answering, call, next_millisecond, serving
from contract.beside.facts import Fact, milliseconds
from contract.beside.talk import Said
from contract.programs import node_modules
from deploy.declared import ROOT
from local.mongod import free_port

PACKAGES = ROOT / "contract" / "beside"
NAME = "waline"
_PATH = "/posts/beside/"
_OWNER = {"email": "owner@mail.example", "password": "of the owner"}
_STATUS = {"pending": "waiting", "spam": "spam"}


class _Posted(NamedTuple):
    """A comment that Waline has: its id, and the time of its posting in milliseconds."""

    said: Said
    id: str
    root: str
    posted: int


class Waline:
    """A server of Waline over a database of a server of MongoDB, which a block of code has."""

    def __init__(self, folder: Path, mongodb_uri: str) -> None:
        self._folder, self._port = folder, free_port()
        self._url = f"http://127.0.0.1:{self._port}/api"
        self._mongodb = urllib.parse.urlsplit(mongodb_uri)
        self._owner: dict[str, str] = {}

    def hold(self, talk: Sequence[Said]) -> tuple[Path, list[Fact]]:
        """Have a discussion; return its export and its facts, by the answers of Waline."""
        server = node_modules(PACKAGES) / "@waline" / "vercel" / "vanilla.js"
        command = ["node", str(server), str(self._port)]
        # Each call asks a service of its authors for the ways to sign in.
        with (
            answering({"services": []}) as ways,
            serving(command, self._url, self._folder, **self._environment(), OAUTH_URL=ways),
        ):
            self._owner = self._sign_in()
            posted = self._post_all(talk)
            self._vote_all(posted)
            for each in posted:
                self._change(each)
            for each in posted:
                if each.said.fate == "deleted":
                    self._call("DELETE", f"/comment/{each.id}")
            # As the dashboard saves it.
            export = self._folder / "waline.json"
            export.write_text(json.dumps(self._call("GET", "/db"), indent=2))
        return export, _facts(posted)

    def _environment(self) -> dict[str, str]:
        return {
            "MONGO_HOST": self._mongodb.hostname or "",
            "MONGO_PORT": str(self._mongodb.port),
            "MONGO_DB": "waline",
            "MONGO_REPLICASET": "plaza",
            "JWT_TOKEN": "a key of a server that lives for a minute",
            "IPQPS": "0",
            "AKISMET_KEY": "false",
            "DISABLE_REGION": "true",
        }

    def _sign_in(self) -> dict[str, str]:
        """Make the first user, who owns the site; return the header of the owner's calls."""
        self._call("POST", "/user", {**_OWNER, "display_name": "Owner"})
        token = self._call("POST", "/token", _OWNER)["token"]
        return {"Authorization": f"Bearer {token}"}

    def _call(self, method: str, path: str, body: Any = None, *, is_guest: bool = False) -> Any:
        headers = {} if is_guest else self._owner
        told = call(method, f"{self._url}{path}", body, **headers).body
        if not isinstance(told, dict) or told.get("errno"):
            raise Refused(f"{method} {path}: {told}")
        return told.get("data")

    def _post_all(self, talk: Sequence[Said]) -> list[_Posted]:
        posted: list[_Posted] = []
        for said in talk:
            above = None if said.parent is None else posted[said.parent]
            body = {
                "nick": said.author,
                "mail": f"{said.author.encode().hex()}@mail.example",
                "comment": said.text,
                "url": _PATH,
                "ua": "",
            }
            if above is not None:
                body |= {"pid": above.id, "rid": above.root, "at": above.said.author}
            next_millisecond()
            made = self._call("POST", "/comment", body, is_guest=True)
            key = made["objectId"]
            posted.append(_Posted(said, key, above.root if above else key, _time(made)))
        return posted

    def _vote_all(self, posted: Sequence[_Posted]) -> None:
        for each in posted:
            for is_for in [True] * each.said.ups + [False] * each.said.downs:
                self._call("PUT", f"/comment/{each.id}", {"like": is_for}, is_guest=True)

    def _change(self, posted: _Posted) -> None:
        """Give a comment its fate, as the owner does."""
        if posted.said.fate == "edited":
            self._call("PUT", f"/comment/{posted.id}", {"comment": posted.said.edited_text})
        elif posted.said.fate in _STATUS:
            status = _STATUS[posted.said.fate]
            self._call("PUT", f"/comment/{posted.id}", {"status": status})


def _time(made: Any) -> int:
    told = made.get("time", made.get("insertedAt"))
    return milliseconds(told.replace("Z", "+00:00")) if isinstance(told, str) else int(told)


def _facts(posted: Sequence[_Posted]) -> list[Fact]:
    """Return the facts by their times, without comments that Waline deletes with others."""
    left = {each.id: each for each in posted}
    by_number = {each.said.number: each for each in posted}
    for each in posted:
        if each.said.fate == "deleted":
            for other in list(left.values()):
                above = None if other.said.parent is None else by_number[other.said.parent].id
                # Waline deletes its answers, and the whole thread of a root.
                if each.id in {other.id, above, other.root}:
                    del left[other.id]
    return [_fact(each, by_number, left) for each in left.values()]


def _fact(posted: _Posted, by_number: dict[int, _Posted], left: dict[str, _Posted]) -> Fact:
    said = posted.said
    above = None if said.parent is None else by_number[said.parent].id
    # Waline shows an answer to a deleted answer below the comment that began the thread.
    shown = None if above is None else above if above in left else posted.root
    return Fact(
        posted.posted,
        None if shown is None else left[shown].posted,
        said.author,
        said.edited_text if said.fate == "edited" else said.text,
        said.fate if said.fate in {"pending", "spam"} else "visible",
        max(0, said.ups - said.downs),
        0,
        None,
    )
