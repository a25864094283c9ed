"""Conditional calls: the entity tags and versions that a caller names."""

import re

from chalicelib.errors import FieldError, InvalidRequest, VersionNeeded
from chalicelib.http.requests import Request

_VERSION = re.compile(r'"([0-9]{1,9})"', re.ASCII)


def held_tags(request: Request) -> list[str]:
    """Return the tags of If-None-Match without `W/`, to compare them weakly (RFC 9110, 13.1.2)."""
    given = request.raw.headers.get("if-none-match") or ""
    return [each.strip().removeprefix("W/") for each in given.split(",") if each.strip()]


def version_tag(version: int) -> str:
    """Return the entity tag of a version."""
    return f'"{version}"'


def named_version(request: Request) -> int | None:
    """Return the version that If-Match names; None without the header: the thing may be new.

    Raises InvalidRequest for a header that is not one strong tag.
    """
    return None if request.raw.headers.get("if-match") is None else expected_version(request)


def expected_version(request: Request) -> int:
    """Return the version that If-Match names: one strong tag, as `version_tag` writes it.

    Raises VersionNeeded without the header, and InvalidRequest for any other header: `*` would
    overwrite any version, and a weak tag never matches (RFC 9110, section 13.1.1).
    """
    given = request.raw.headers.get("if-match")
    if given is None:
        raise VersionNeeded
    found = _VERSION.fullmatch(given.strip())
    if found is None:
        message = 'one version is needed, in quotation marks: "3"'
        raise InvalidRequest(errors=[FieldError("If-Match", "version", message)])
    return int(found[1])
