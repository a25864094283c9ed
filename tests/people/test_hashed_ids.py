"""People whose subjects are no ids, in what all features do with a person."""

import pytest

from tests.support.http_client import Client
from tests.support.workers import Workers


@pytest.mark.parametrize("sub", ["001234.0a1b.0987", "f:uuid:bob", "bob@mail.example", "x" * 255])
def test_a_person_with_such_a_subject_writes_and_is_found_blocked_and_erased(
    client: Client, workers: Workers, sub: str
) -> None:
    bob = client.as_(sub, name="Bob")
    admin = client.as_("root", roles=["admin"])
    admin.put("/nodes/page", title="Page", url="https://site.example/")
    bob.put("/users/me")
    me = bob.get("/me").json["id"]

    posted = bob.post("/nodes/page/comments", text="Hello")
    assert posted.status == 201
    assert posted.json["author"]["id"] == me
    assert client.get(f"/users/{me}").json["name"] == "Bob"
    ann = client.as_("ann")
    ann.put("/users/me")
    assert ann.put(f"/users/me/blocked/{me}").status == 204

    assert bob.delete("/users/me").status in {202, 204}
    workers.drain()
    assert client.get("/nodes/page/comments").json["comments"] == []
    assert client.get(f"/users/{me}").status == 404
