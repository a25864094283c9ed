"""Requests: models of input, and a call with the runtime that answers it."""

import math
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time
from email.utils import format_datetime
from functools import partial
from typing import Any, ClassVar, NamedTuple, TypeVar, get_origin

import orjson
from chalice.app import MultiDict
from chalice.app import Request as ChaliceRequest
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from chalicelib import bots, errors, limits
from chalicelib.errors import FieldError, Problem
from chalicelib.http import audit
from chalicelib.identity import Principal, Role, identify
from chalicelib.limits import Limit
from chalicelib.runtime import Runtime
from chalicelib.sites import issuers

# Bounds on JSON bodies, so that parsing them into models has a bounded cost.

# Members of objects and elements of arrays: twice as many as in the largest campaign. Pydantic
# needs 2 to 4 µs to refuse each.
MAX_VALUES = 10_000
MAX_ERRORS = 20

# MongoDB's integers.
_LEAST_INTEGER, _GREATEST_INTEGER = -(2**63), 2**63 - 1
_CHECKED = frozenset({dict, list, int, float})

Model = TypeVar("Model", bound=BaseModel)


def parse(text: bytes, model: type[Model], limit_bytes: int) -> Model:
    """Return the body as a model; raises BodyTooLarge, InvalidJson or InvalidRequest."""
    if len(text) > limit_bytes:
        raise errors.BodyTooLarge(f"The limit is {limit_bytes} bytes")
    # A count without parsing: most values follow a comma or a colon, but not an array's first.
    has_few = text.count(b",") + text.count(b":") <= MAX_VALUES
    if not (has_few and issubclass(model, Input) and model.mends_json):
        _check_values(text)
    try:
        return model.model_validate_json(text, strict=True)
    except ValidationError as error:
        raise _problem(error) from None


def parse_part(value: Any, model: type[Model], name: str) -> Model:
    """Return a part of a body as a model; raises InvalidRequest with fields below `name`."""
    try:
        return model.model_validate_json(orjson.dumps(value), strict=True)
    except ValidationError as error:
        raise errors.InvalidRequest(errors=_faults(error, name)) from None


def invalid(error: ValidationError) -> errors.InvalidRequest:
    """Return the problem with pydantic's first `MAX_ERRORS` errors, without the sent values."""
    return errors.InvalidRequest(errors=_faults(error))


def _check_values(text: bytes) -> None:
    """Raise InvalidJson, or InvalidRequest for too many values, or numbers beyond 64 bits.

    Models alone do not refuse them: a field of any type would take NaN and integers of any size.
    """
    try:
        waiting: list[tuple[tuple[Any, ...], Any]] = [((), from_json(text, allow_inf_nan=False))]
    except ValueError:
        raise errors.InvalidJson from None
    count, faults = 0, []
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, dict | list):
            count += len(value)
            if count > MAX_VALUES:
                message = f"a body must have at most {MAX_VALUES} members and elements"
                raise errors.InvalidRequest(errors=[FieldError("", "too_many_values", message)])
            members = value.items() if isinstance(value, dict) else enumerate(value)
            waiting += [((*place, name), each) for name, each in members if type(each) in _CHECKED]
        elif not _is_storable(value):
            name = ".".join(map(str, place))
            faults.append(FieldError(name, "number_out_of_range", "a number must fit into 64 bits"))
    if faults:
        raise errors.InvalidRequest(errors=faults[:MAX_ERRORS])


def _is_storable(value: object) -> bool:
    """Return False for an integer beyond MongoDB's 64 bits, and for a float that is not finite."""
    if isinstance(value, int):
        return _LEAST_INTEGER <= value <= _GREATEST_INTEGER
    return not isinstance(value, float) or math.isfinite(value)


def _problem(error: ValidationError) -> errors.Problem:
    faults = _faults(error)
    return (
        errors.InvalidJson()
        if faults[0].code == "json_invalid"
        else errors.InvalidRequest(errors=faults)
    )


def _faults(error: ValidationError, *within: str) -> list[FieldError]:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return [
        FieldError(".".join(map(str, (*within, *fault["loc"]))), fault["type"], fault["msg"])
        for fault in found[:MAX_ERRORS]
    ]


BODY_LIMIT_BYTES = 65_536
# Entries of a page of a listing.
MAX_PAGE = 200
# A position may hold a path of 512 bytes, chosen by a stranger, each byte escaped.
MAX_CURSOR_CHARACTERS = 2_000


class Input(BaseModel):
    """Input of a client: no further fields, and no coercion in JSON.

    `mends_json`: the model's own `model_validate_json` repairs damaged JSON.
    """

    mends_json: ClassVar[bool] = False
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


def without_defaults(schema: dict[str, Any]) -> None:
    """Take the defaults out of a schema of changes: an omitted field stays as it is."""
    for each in schema["properties"].values():
        each.pop("default", None)


class PageQuery(Input):
    """The query of a paged listing."""

    limit: int = Field(
        50,
        ge=1,
        le=MAX_PAGE,
        description="How many entries a page has at most; fewer if one answer cannot hold them.",
    )
    cursor: str | None = Field(
        None,
        max_length=MAX_CURSOR_CHARACTERS,
        description="Where the page begins: `next` of the page before it. Left out for the first.",
    )


class Retired(NamedTuple):
    """An operation's first day of deprecation, and the first day that it may be gone; in UTC."""

    since: date
    gone: date

    def headers(self) -> dict[str, str]:
        """Return `Deprecation` (RFC 9745) and `Sunset` (RFC 8594)."""
        since, gone = (datetime.combine(day, time(), UTC) for day in self)
        return {
            "Deprecation": f"@{int(since.timestamp())}",
            "Sunset": format_datetime(gone, usegmt=True),
        }


LimitOf = Callable[[Runtime, Mapping[str, Any]], Limit]
# Whether a person of one site may call a route, by the parameters of its path.
OneSiteRule = Callable[[Runtime, Mapping[str, Any], Principal], bool]


def everybody(_runtime: Runtime, _path: Mapping[str, Any], _caller: Principal) -> bool:
    """Admit people of every site to a route about the caller alone, such as their erasure."""
    return True


class RouteRules(NamedTuple):
    """The declaration of a route beside its method and path.

    - `limit`: None: unlimited; a function: finds the limit by the call's path. The default is
      `CLICKS` for a route that writes, and None for others.
    - `is_audited`: by default, if the route writes.
    - `secrets`: path parameters that work as credentials, such as tokens; the audit omits them.
    - `raises`: the view's own problems.
    - `tag`: the part of the API that lists it.
    - `takes_idempotency_key`: with the same Idempotency-Key, a repeated call makes nothing twice.
    - `needs_idempotency_key`: it refuses a call without a key.
    - `retired`: its answers have the headers `Deprecation` and `Sunset`.
    - `needs_version`: a call names the version that it changes as If-Match.
    - `tells_version`: the answer's ETag is the version.
    - `tells_location`: an answer of success other than 201 and 302 has a Location, too.
    - `rows`: the most rows of an answer, if the query has no `limit`; the router asks for fewer if
      the answer is too large.
    - `of_one_site`: decides by the path's parameters whether a person of one site, such as a
      guest, may call it; None: no such person may. A refused person counts as anonymous.
    """

    limit: Limit | LimitOf | None
    is_audited: bool
    body_limit_bytes: int = BODY_LIMIT_BYTES
    secrets: tuple[str, ...] = ()
    raises: tuple[type[Problem], ...] = ()
    tag: str = ""
    takes_idempotency_key: bool = False
    needs_idempotency_key: bool = False
    retired: Retired | None = None
    needs_version: bool = False
    tells_version: bool = False
    tells_location: bool = False
    rows: int | None = None
    of_one_site: OneSiteRule | None = None


def accepts_html(raw: ChaliceRequest) -> bool:
    """Return whether the call accepts HTML, as a browser does when it opens a page."""
    return "text/html" in (raw.headers.get("accept") or "")


class Request:
    """A call, with the runtime that answers it."""

    __slots__ = (
        "_caller",
        "_is_identified",
        "details",
        "is_audited",
        "path",
        "raw",
        "rows",
        "rules",
        "runtime",
    )

    def __init__(self, runtime: Runtime, raw: ChaliceRequest, rules: RouteRules) -> None:
        self.runtime = runtime
        self.raw = raw
        self.rules = rules
        self.is_audited = rules.is_audited
        # The most rows of the answer, if the route declares `rows`.
        self.rows = rules.rows or 0
        # The parameters of the path, once the router has checked them.
        self.path: Mapping[str, Any] = {}
        # Further fields of the audit line.
        self.details: dict[str, Any] = {}
        self._caller: Principal | None = None
        self._is_identified = False

    def body(self, model: type[Model]) -> Model:
        """Parse the JSON body; raises InvalidJson, BodyTooLarge or InvalidRequest."""
        # Chalice returns bytes, whatever it declares.
        text: Any = self.raw.raw_body
        return parse(text, model, self.rules.body_limit_bytes)

    def data(self) -> bytes:
        """Return the body as sent; raises BodyTooLarge."""
        sent: Any = self.raw.raw_body
        if len(sent) > self.rules.body_limit_bytes:
            raise errors.BodyTooLarge(f"The limit is {self.rules.body_limit_bytes} bytes")
        return bytes(sent)

    def query(self, model: type[Model], *, has_strays: bool = False) -> Model:
        """Parse the query string (`_values_of` for repeated names); raises InvalidRequest.

        `has_strays`: ignore names that the model lacks, such as trackers add to links.
        """
        found = self.raw.query_params or MultiDict({})
        given: dict[str, Any] = {
            name: _values_of(model, name, found.getlist(name)) for name in found
        }
        if has_strays:
            names = {field.alias or name for name, field in model.model_fields.items()}
            given = {name: given[name] for name in given if name in names}
        try:
            return model.model_validate(given)
        except ValidationError as error:
            raise invalid(error) from None

    def caller(self) -> Principal | None:
        """Return the caller; None: an anonymous call, or a person whom `of_one_site` refuses.

        Raises Unauthenticated for a bad token.
        """
        if not self._is_identified:
            settings, now = self.runtime.settings, self.runtime.now()
            issuers_of = partial(issuers.of, self.runtime)
            self._caller = identify(self.raw.headers, settings, now, issuers_of)
            self._is_identified = True
        return self._caller if self._admits(self._caller) else None

    def _admits(self, caller: Principal | None) -> bool:
        if caller is None or caller.site is None:
            return True
        rule = self.rules.of_one_site
        return rule is not None and rule(self.runtime, self.path, caller)

    def principal(self, *roles: Role) -> Principal:
        """Return the caller; with `roles`, require any of them and audit the call.

        Raises Unauthenticated or Forbidden.
        """
        caller = self.caller()
        if caller is None:
            raise errors.Unauthenticated
        if roles:
            self.is_audited = True
        if roles and not caller.has(*roles):
            raise errors.Forbidden(f"This needs one of the roles: {', '.join(roles)}")
        return caller

    @property
    def user_agent(self) -> str | None:
        """The header User-Agent; None: the call has none."""
        agent: str | None = self.raw.headers.get("user-agent")
        return agent

    @property
    def is_by_person(self) -> bool:
        """Whether a person opens the address now: not `is_ahead`, and not from a bot."""
        return bots.is_by_person(self.raw.method, self.raw.headers)

    @property
    def is_ahead(self) -> bool:
        """Whether the call only looks ahead: HEAD, a prefetch or a preview."""
        return bots.is_ahead(self.raw.method, self.raw.headers)

    @property
    def address(self) -> str | None:
        """The caller's whole address; None: the gateway names none."""
        hops = self.runtime.settings.trusted_hops
        found = limits.address(self.raw.context, self.raw.headers, hops)
        return None if found is None else str(found)

    @property
    def accepts_html(self) -> bool:
        """Whether the call accepts HTML, as a browser does when it opens a page."""
        return "text/html" in (self.raw.headers.get("accept") or "")

    def location(self, path: str) -> dict[str, str]:
        """Return the Location header of a path of this API."""
        return {"Location": f"{self.runtime.settings.public_url}{path}"}

    def audit(self, path: Mapping[str, str], status: int) -> None:
        """Write the call's audit line; `path`: the parameters of its path."""
        things = {name: path[name] for name in path if name not in self.rules.secrets}
        operation = audit.CalledRoute(self.raw.method, self.raw.path)
        audit.record(self._caller, operation, things, status, self.details)

    def count(self, limit: Limit) -> None:
        """Count one write against the limit, for the caller and the caller's address.

        The router counts a declared limit by itself. Raises Unauthenticated for a bad token, and
        TooFast.
        """
        hops = self.runtime.settings.trusted_hops
        address = limits.source(self.raw.context, self.raw.headers, hops)
        limits.take(self.runtime, limit, self.caller(), address)


def _values_of(model: type[BaseModel], name: str, values: list[str]) -> str | list[str]:
    """Return the value of a query's parameter for its model, however often it repeats.

    A repeated list parameter joins its values by commas. A repeated parameter that the model lacks
    stays a list. Any other parameter has its last value.
    """
    field = model.model_fields.get(name)
    if len(values) > 1 and field is None:
        return values
    if len(values) > 1 and field and get_origin(field.annotation) in {list, tuple}:
        return ",".join(values)
    return values[-1]
