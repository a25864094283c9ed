"""The valid values of the fields that only Plaza's own lines have.

A line may be forged: readers see its badges and roles, but these grant no rights.
"""

import contextlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, cast, get_args

from pydantic import TypeAdapter, ValidationError

from chalicelib.comments.forms import NodeSettings
from chalicelib.comments.importing.identities import OWN_ID
from chalicelib.comments.mentions import MAX_MENTIONS
from chalicelib.comments.nodes import THREADED_STORES
from chalicelib.comments.shapes import (
    MAX_BADGE_CHARACTERS,
    MAX_BADGES,
    MAX_PINNED,
    MAX_REASONS,
    AuthorRole,
    Reason,
    Shadow,
)
from chalicelib.instants import Instant
from chalicelib.marks.shapes import MAX_REACTIONS, is_key
from chalicelib.people.names import acceptable
from chalicelib.texts import drop_controls

_INSTANT: TypeAdapter[datetime] = TypeAdapter(Instant)
_REASONS: frozenset[str] = frozenset(get_args(Reason))
# The settings of a node that `NodeSettings` checks.
_SETTINGS = (
    *("store", "threaded", "max_depth", "moderation", "votes", "order", "slow_seconds"),
    *("opens_at", "closes_at"),
)
_TIMES = ("opens_at", "closes_at", "public_from", "public_until")
_PAIR = 2


class NamedPerson(NamedTuple):
    """A person whom a text mentions; `account` is their id in the file."""

    account: str
    name: str


def settings_of(own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the valid settings of a node's line; leave out the others."""
    kept: dict[str, Any] = {}
    for name in _SETTINGS:
        if own.get(name) is None:
            continue
        page = {"title": "A page", "url": "https://page.example/"}
        with contextlib.suppress(ValidationError):
            NodeSettings.model_validate({**page, name: own[name]})
            kept[name] = own[name]
    if kept.get("threaded") and kept.get("store") not in {None, *THREADED_STORES}:
        # The store cannot hold a threaded node: the threading matters more than the store.
        del kept["store"]
    for name in _TIMES:
        if found := instant_of(own.get(name)):
            kept[name] = found
    pinned = _texts(own.get("pinned"))
    if known := [each for each in pinned if OWN_ID.fullmatch(each)]:
        kept["pinned"] = known[:MAX_PINNED]
    return kept


def instant_of(value: Any) -> datetime | None:
    """Return a time; None for anything else."""
    with contextlib.suppress(ValidationError):
        return _INSTANT.validate_python(value)
    return None


def reasons_of(own: Mapping[str, Any]) -> list[Reason]:
    """Return the known reasons that hold a comment, except `checking`."""
    # An import runs no spam check, so no result of a check would end `checking`.
    known = [each for each in _texts(own.get("reasons")) if each in _REASONS - {"checking"}]
    return cast("list[Reason]", known[:MAX_REASONS])


def badges_of(own: Mapping[str, Any]) -> list[str]:
    """Return the badges beside an author's name, without empty or long badges."""
    shown = (str(drop_controls(each)).strip() for each in _texts(own.get("badges")))
    return [each for each in shown if 0 < len(each) <= MAX_BADGE_CHARACTERS][:MAX_BADGES]


def role_of(own: Mapping[str, Any]) -> AuthorRole | None:
    """Return the role beside an author's name; None: the file names no role, or an unknown role."""
    told = own.get("role")
    return cast("AuthorRole", told) if told in get_args(AuthorRole) else None


def shadow_of(own: Mapping[str, Any]) -> Shadow | None:
    """Return the state that a shadowed author sees in place of the comment's; None: no shadow."""
    told = own.get("shadow")
    return cast("Shadow", told) if told in get_args(Shadow) else None


def mentioned_in(own: Mapping[str, Any]) -> list[NamedPerson]:
    """Return the mentioned people with acceptable names, at most MAX_MENTIONS."""
    found: list[NamedPerson] = []
    for each in _members(own.get("mentions")):
        account, name = (
            (each.get("id"), each.get("name")) if isinstance(each, Mapping) else (None, None)
        )
        is_name = isinstance(name, str) and acceptable(name, (), is_staff=True) == name
        if isinstance(account, str) and isinstance(name, str) and is_name:
            found.append(NamedPerson(account, name))
    return found[:MAX_MENTIONS]


def reactions_in(own: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Return pairs of an account and its first MAX_REACTIONS valid keys, each key once."""
    found: list[tuple[str, list[str]]] = []
    for pair in _members(own.get("reactions")):
        if not (isinstance(pair, list | tuple) and len(pair) == _PAIR):
            continue
        account, keys = pair
        known = [each for each in _texts(keys) if is_key(each)]
        if isinstance(account, str) and known:
            found.append((account, list(dict.fromkeys(known))[:MAX_REACTIONS]))
    return found


def _members(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else []


def _texts(value: Any) -> list[str]:
    return [each for each in _members(value) if isinstance(each, str)]
