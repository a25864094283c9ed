"""Conditional calls: the entity tags of what a caller holds, or has read."""

import re

from chalicelib.errors import FieldError, InvalidRequest, VersionNeeded
from chalicelib.http.requests import Request

_VERSION = re.compile(r'"([0-9]{1,9})"', re.ASCII)


def held_tags(request: Request) -> list[str]:
    """Return the tags of If-None-Match, compared weakly (RFC 9110, section 13.1.2)."""
    given = request.raw.headers.get("if-none-match") or ""
    return [each.strip().removeprefix("W/") for each in given.split(",") if each.strip()]


def version_tag(version: int) -> str:
    """Return the entity tag of a thing by its version."""
    return f'"{version}"'


def named_version(request: Request) -> int | None:
    """Return the version that If-Match names, or None without one: for what may be new.

    Raises InvalidRequest for anything but one version.
    """
    return None if request.raw.headers.get("if-match") is None else expected_version(request)


def expected_version(request: Request) -> int:
    """Return the version that If-Match names: one strong tag, as `version_tag` has it.

    Raises VersionNeeded without one, and InvalidRequest for anything else: `*` would overwrite
    whatever is there, and a weak tag never matches (RFC 9110, section 13.1.1).
    """
    given = request.raw.headers.get("if-match")
    if given is None:
        raise VersionNeeded
    found = _VERSION.fullmatch(given.strip())
    if found is None:
        told = 'one version is needed, in quotation marks: "3"'
        raise InvalidRequest(errors=[FieldError("If-Match", "version", told)])
    return int(found[1])
