"""Limits of votes and flags that a site's publisher sets."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from chalicelib.comments.node_ids import site_of
from chalicelib.comments.shapes import SiteLimits
from chalicelib.comments.sites import settings
from chalicelib.limits import FLAGS, VOTES, Limit
from chalicelib.runtime import Runtime
from chalicelib.sites.ids import DEFAULT_SITE


def votes(runtime: Runtime, path: Mapping[str, Any]) -> Limit:
    """Return a site's limit of votes, by the `node` of a request's path."""
    number = _of(runtime, path)["votes_per_minute"]
    return replace(VOTES, burst=number, every=timedelta(minutes=1) / number)


def flags(runtime: Runtime, path: Mapping[str, Any]) -> Limit:
    """Return a site's limit of flags, by the `node` of a request's path."""
    number = _of(runtime, path)["flags_per_hour"]
    return replace(FLAGS, burst=number, every=timedelta(hours=1) / number)


def _of(runtime: Runtime, path: Mapping[str, Any]) -> SiteLimits:
    site = site_of(path["node"]) or DEFAULT_SITE
    return settings.of(runtime, site)["limits"]
