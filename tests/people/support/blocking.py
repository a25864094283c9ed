"""One person's list of blocks, as each feature and site shows it."""

from chalicelib.people.blocks import BLOCKS
from chalicelib.runtime import Runtime
from chalicelib.social.graph.users import USERS
from chalicelib.wiring import blocks as joined
from tests.support.http_client import Client

COMMENTS = "/nodes/{}:moon/comments"
SITES = ("blog", "post")
AT_BLOG, IN_FEED = "/sites/blog/blocked", "/users/me/blocked"


def hears_bob(reader: Client, site: str) -> bool:
    return bool(reader.get(COMMENTS.format(site)).json["comments"])


def listed(reader: Client) -> list[list[str]]:
    """Return the reader's blocks as each route lists them."""
    paths = (IN_FEED, *(f"/sites/{site}/blocked" for site in SITES))
    return [[each["id"] for each in reader.get(path).json["people"]] for path in paths]


def both_ways(runtime: Runtime, name: str) -> set[tuple[str, str]]:
    """Return the pairs of who blocks whom that a collection has, if both directions agree."""
    rows = list(runtime.database[name].find())
    owned = {(row["_id"], each) for row in rows for each in row["blocked"]}
    mirrored = {(each, row["_id"]) for row in rows for each in row["blocked_by"]}
    assert owned == mirrored
    return owned


def assert_copies_agree(runtime: Runtime) -> set[tuple[str, str]]:
    found = both_ways(runtime, BLOCKS.name)
    assert both_ways(runtime, USERS.name) == found
    return found


def join_all(runtime: Runtime, most: int) -> int:
    done, following = 0, ""
    while following is not None:
        report = joined.join(runtime, following, most)
        done, following = done + report["lists"], report["next"]
    return done
