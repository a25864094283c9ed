"""Problems of the API of posts that take some bringing about, each answered once over HTTP."""

from tests.social.support.drivers import Town, settle


def test_a_repeated_comment_that_was_erased_meanwhile_is_not_there(town: Town) -> None:
    settle(town.client, "ann", "bob")
    path, bob = f"/posts/{town.publish()}/comments", town.client.as_("bob")
    key = {"Idempotency-Key": "k1", "Content-Type": "application/json"}
    assert bob.request("POST", path, body=b'{"text": "Hello"}', headers=key).status == 201

    bob.delete("/users/me")
    town.workers.drain()
    repeated = bob.request("POST", path, body=b'{"text": "Hello"}', headers=key)

    assert (repeated.status, repeated.code) == (404, "unknown_comment")
    assert town.client.get(path).json["comments"] == []
