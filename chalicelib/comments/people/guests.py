"""Guests of a site: readers without an account, who write under a name of their choice."""

from collections.abc import Callable, Mapping
from typing import Any

from chalicelib import guest_tokens
from chalicelib.comments.errors import GuestsOff, NameTaken
from chalicelib.comments.node_ids import site_of
from chalicelib.comments.people.rows import PEOPLE, check_not_joined, person_id, taken_key
from chalicelib.comments.sites import settings
from chalicelib.errors import FieldError, InvalidRequest
from chalicelib.guest_tokens import Guest
from chalicelib.http import Route, View
from chalicelib.identity import Principal
from chalicelib.people.names import acceptable, lookalike_key
from chalicelib.runtime import Runtime

# The most people whose missing key one run of the schedule adds.
_AT_ONCE = 1_000


def admitting(route: Route) -> Route:
    """Return a `route` that admits people of one site to the routes of the site and of its nodes.

    They have no role, so routes of staff refuse them as they refuse any reader.
    """

    def declare(method: str, path: str, **rules: Any) -> Callable[[View], View]:
        if "{node}" in path:
            return route(method, path, of_one_site=of_node, **rules)
        of_path = {"of_one_site": of_site} if "{site}" in path else {}
        return route(method, path, **rules, **of_path)

    return declare


def of_site(runtime: Runtime, path: Mapping[str, Any], caller: Principal) -> bool:
    """Return whether a person of one site may call a route about a site now."""
    return _acts_at(runtime, path["site"], caller)


def of_node(runtime: Runtime, path: Mapping[str, Any], caller: Principal) -> bool:
    """Return whether a person of one site may call a route about a node now."""
    return _acts_at(runtime, site_of(path["node"]), caller)


def _acts_at(runtime: Runtime, site: str | None, caller: Principal) -> bool:
    if site is None or caller.site != site:
        return False
    return not caller.is_guest or _are_welcome(runtime, site)


def begin(runtime: Runtime, site: str, name: str, caller: Principal | None) -> Guest:
    """Return a guest of a site under a name: a new guest, or a caller who is a guest there.

    Raises GuestsOff, NameTaken for a name that a reader may take for another person's there, and
    InvalidRequest for a name that Plaza may not show.
    """
    if not _are_welcome(runtime, site):
        raise GuestsOff
    shown = acceptable(name, runtime.settings.reserved_names, is_staff=False)
    key = lookalike_key(shown or "")
    if shown is None or not key:
        message = "This name is reserved or has no letters"
        raise InvalidRequest(errors=[FieldError("name", "reserved_name", message)])
    own = _own_id(runtime, site, caller)
    taken = {"taken_key": key, "site": site, "user_id": {"$ne": own}}
    if PEOPLE.of(runtime.database).find_one(taken, {"_id": 1}):
        raise NameTaken
    made = guest_tokens.new_guest(site, shown, runtime.now(), runtime.random)
    return made._replace(id=own) if own is not None else made


def check_token(runtime: Runtime, caller: Principal) -> None:
    """Raise Unauthenticated for a guest whose past an account has: their token is over."""
    if caller.is_guest and caller.site is not None:
        key = {"_id": person_id(caller.site, caller.id)}
        person = PEOPLE.of(runtime.database).find_one(key, {"joined": 1})
        if person is not None:
            check_not_joined(person)


def _own_id(runtime: Runtime, site: str, caller: Principal | None) -> str | None:
    """Return the id of a caller who is a guest of a site, unless an account has their past."""
    if caller is None or not caller.is_guest or caller.site != site:
        return None
    is_joined = {"_id": person_id(site, caller.id), "joined": {"$exists": True}}
    return None if PEOPLE.of(runtime.database).find_one(is_joined, {"_id": 1}) else caller.id


def _are_welcome(runtime: Runtime, site: str) -> bool:
    return settings.of(runtime, site).get("guests", "off") in ("name", "email")


def add_missing_keys(runtime: Runtime) -> int:
    """Give people of release 0.3.0 the key of their name; return how many had none."""
    people = PEOPLE.of(runtime.database)
    found = list(people.find({"taken_key": None}, {"user_id": 1, "name": 1}).limit(_AT_ONCE))
    for each in found:
        key = taken_key(each["user_id"], each["name"])
        as_read = {"_id": each["_id"], "name": each["name"], "taken_key": None}
        people.update_one(as_read, {"$set": {"taken_key": key}})
    return len(found)
