"""Write docs/settings.md, a row for each setting: script/settings [--check]."""

import argparse
import sys
from pathlib import Path
from typing import Any

from chalicelib.settings import PREFIX, Settings

FILE = Path(__file__).parents[1] / "docs" / "settings.md"
# In the order of the class, each setting from which on settings belong to an area.
AREAS = {
    "mongodb_uri": "Database",
    "jwt_secret": "Identity and signing",
    "allowed_origins": "HTTP",
    "queue_prefix": "Queues, logs and metrics",
    "open_nodes": "Comments and names",
    "action_sites": "Activity feed",
    "post_types": "Posts and news",
    "social_notifications": "Notifications",
    "embedded_max_bytes": "Comments and names",
    "zone_ttl_ms": "Ads",
    "public_url": "HTTP",
    "prepayment": "Ads",
    "buyer_days": "Shop and payments",
    "akismet_key": "Spam check",
    "mail_from": "Letters",
    "vapid_public_key": "Push messages",
    "wall": "Posts and news",
    "lease_ms": "Queues, logs and metrics",
    "hit_capped_bytes": "Analytics",
    "penalty_close_seconds": "Activity feed",
    "asset_bucket": "Assets",
}
_TABLE = ("| variable | default | unit and bounds | what it is |", "|---|---|---|---|")
UNITS = {"_ms": "milliseconds", "_seconds": "seconds", "_bytes": "bytes"}
KINDS = {"boolean": "`true` or `false`", "integer": "a whole number", "number": "a number"}
HEAD = """\
# Settings

Environment variables of the functions, read once at the start; an empty one counts as unset.
[`.chalice/config.json`](../.chalice/config.json) holds those of each stage; the secrets come from
the [deployment's secret](operations/deploy.md#rotating-keys). A value out of bounds stops the start
with a message that names every variable at fault.

This page is made by `script/settings` from [settings.py](../chalicelib/settings.py).
"""


def page() -> str:
    """Return the page: a table for each area, secrets without their defaults."""
    fields = Settings.model_json_schema()["properties"]
    tables: dict[str, list[str]] = {}
    area = ""
    for name, schema in fields.items():
        area = AREAS.get(name, area)
        tables.setdefault(area, []).append(_row(name, schema))
    parts = ["\n".join([f"## {area}", "", *_TABLE, *rows]) for area, rows in tables.items()]
    return "\n\n".join([HEAD.rstrip("\n"), *parts]) + "\n"


def _row(name: str, schema: dict[str, Any]) -> str:
    default = "" if _is_secret(schema) else _default(schema["default"])
    cells = (f"`{PREFIX}{name.upper()}`", default, _values(name, schema), schema["description"])
    return "| " + " | ".join(cells).replace("|  |", "| |") + " |"


def _is_secret(schema: dict[str, Any]) -> bool:
    parts = (schema, schema.get("items", {}), *schema.get("anyOf", ()))
    return any(part.get("writeOnly") for part in parts)


def _default(value: Any) -> str:
    if value is None or value in ("", []):
        return ""
    return f"`{str(value).lower()}`" if isinstance(value, bool) else f"`{value}`"


def _values(name: str, schema: dict[str, Any]) -> str:
    """Return what a setting takes: its unit or kind, and its bounds."""
    schema = schema["anyOf"][0] if "anyOf" in schema else schema
    if schema["type"] == "array":
        each = _bounds(schema["items"])
        return "a list, separated by commas" + (f"; each {each}" if each else "")
    if "enum" in schema:
        *others, last = (f"`{value}`" for value in schema["enum"])
        return f"{', '.join(others)} or {last}"
    unit = next((unit for end, unit in UNITS.items() if name.endswith(end)), "")
    told = (unit or KINDS.get(schema["type"], ""), _bounds(schema))
    return ", ".join(part for part in told if part) or "text"


def _bounds(schema: dict[str, Any]) -> str:
    if "pattern" in schema:
        return f"`{schema['pattern']}`"
    if "minLength" in schema:
        return f"at least {schema['minLength']} characters"
    if "exclusiveMinimum" in schema:
        return f"over {schema['exclusiveMinimum']:,} to {schema['maximum']:,}"
    return f"{schema['minimum']:,} to {schema['maximum']:,}" if "minimum" in schema else ""


def main() -> None:
    """Write the page, or check that the one in the repository is current."""
    parser = argparse.ArgumentParser(prog="script/settings", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if it is old")
    if not parser.parse_args().check:
        FILE.write_text(page())
    elif FILE.read_text() != page():
        sys.exit("docs/settings.md is old: run script/settings")


if __name__ == "__main__":
    main()
