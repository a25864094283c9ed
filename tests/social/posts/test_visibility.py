"""Who may see what, as a table."""

import pytest

from chalicelib.social.graph.audience import Reader
from chalicelib.social.graph.users import By
from chalicelib.social.posts.shapes import AddressedPost
from chalicelib.social.posts.visibility import may_see


def post(*circles: str, by: str = "ann", wall: str = "ann") -> AddressedPost:
    author: By = {"id": by, "name": "Ann"}
    return {
        "id": "post",
        "by": author,
        "wall": wall,
        "circles": list(circles),
        "audience": "at_view",
    }


def reader(*circles: str, user_id: str | None = "bob", blocked: tuple[str, ...] = ()) -> Reader:
    return Reader(user_id, {"ann": frozenset(circles)}, blocked=frozenset(blocked))


STRANGER = reader()
ANYONE = Reader()
FRIEND = reader("friends")
BLOCKED = reader("friends", blocked=("ann",))


@pytest.mark.parametrize(
    ("who", "what", "sees"),
    [
        (ANYONE, post("*public*"), True),
        (STRANGER, post("*public*"), True),
        (BLOCKED, post("*public*"), False),
        (ANYONE, post("*circles*"), False),
        (STRANGER, post("*circles*"), False),
        (FRIEND, post("*circles*"), True),
        (BLOCKED, post("*circles*"), False),
        (ANYONE, post("friends"), False),
        (STRANGER, post("friends"), False),
        (FRIEND, post("friends"), True),
        (FRIEND, post("family"), False),
        (FRIEND, post("family", "friends"), True),
        (reader("friends", "family"), post("family"), True),
        (BLOCKED, post("friends"), False),
        (FRIEND, post("friends", by="cy", wall="cy"), False),
        # The author and the owner of the wall.
        (reader(user_id="ann"), post("friends"), True),
        (reader(user_id="ann", blocked=("bob",)), post("friends", wall="bob"), True),
        (STRANGER, post("friends", wall="bob"), True),
        (BLOCKED, post("friends", wall="bob"), False),
        # The names of a circle's fields, and of the special audiences, are names like others.
        (FRIEND, post("name"), False),
        (reader("name"), post("name"), True),
        (reader("public"), post("circles"), False),
    ],
)
def test_may_see(who: Reader, what: AddressedPost, *, sees: bool) -> None:
    assert may_see(who, what) is sees


def test_nobody_owns_the_wall_of_a_user_called_none() -> None:
    assert not may_see(Reader(), post("friends", wall="None"))
