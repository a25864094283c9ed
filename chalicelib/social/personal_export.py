"""A person's entries in an export, from the documents of the social feed."""

from dataclasses import dataclass
from typing import Any

from chalicelib.people.features import ExportEntry, entry
from chalicelib.social.graph.circle_keys import ids_of
from chalicelib.social.graph.stores.edges import Edge
from chalicelib.social.graph.users import User
from chalicelib.social.graph.watches import AuthorWatch
from chalicelib.social.posts.audiences import Audience
from chalicelib.social.posts.shapes import OlderComment, Post, PostComment
from chalicelib.social.posts.votes import PollVote


@dataclass(frozen=True)
class OfUser:
    """A user's own part of documents that may belong to others."""

    user_id: str

    def user(self, user: User) -> list[ExportEntry]:
        """Return a user with their circles, followers and blocks, as far as the document has them.

        Omits the followers' circles, even those with the user: they are the followers' data.
        """
        own = {"id": user["_id"], "name": user["name"], "profile": user["profile"]}
        fields = user.get("profile_circles", {})
        own["profile_circles"] = {name: ids_of(keys) for name, keys in fields.items()}
        circles = [
            entry("circle", id=id_, name=circle["name"], member_ids=list(circle["members"]))
            for id_, circle in user["circles"].items()
        ]
        return [
            entry("user", **own, counts=user["counts"], last_seen_at=user["last_seen"]),
            *circles,
            *(entry("follower", user_id=follower) for follower in user["followers"]),
            *(entry("blocked_user", user_id=blocked) for blocked in user["blocked"]),
        ]

    def member(self, edge: Edge) -> list[ExportEntry]:
        """Return a member of the user's circles."""
        fields = {"user_id": edge["_id"]["member"], "circle_ids": ids_of(edge["circles"])}
        return [entry("circle_member", **fields, since=edge["since"])]

    def follower(self, edge: Edge) -> list[ExportEntry]:
        """Return a follower of the user, without the follower's circles."""
        return [entry("follower", user_id=edge["_id"]["owner"], since=edge["since"])]

    def post(self, post: Post) -> list[ExportEntry]:
        """Return a post of the user's, without the comments of others."""
        return [
            entry(
                "post",
                id=post["_id"],
                author=post["by"],
                wall_owner_id=post["wall"],
                circles=ids_of(post["circles"]),
                audience=post["audience"],
                type=post["type"],
                detail=post["detail"],
                posted_at=post["ts"],
                edited_at=post["edited"],
                is_deleted=post["deleted"],
            )
        ]

    def wall_post(self, post: Post) -> list[ExportEntry]:
        """Return the ids of a post on the user's wall and of its author."""
        fields = {"post_id": post["_id"], "author_id": post["by"]["id"]}
        return [entry("wall_post", **fields, posted_at=post["ts"])]

    def own_comments(self, post: Post) -> list[ExportEntry]:
        """Return the user's comments on a post."""
        own = (each for each in post["comments"] if each["by"]["id"] == self.user_id)
        return [_comment(post["_id"], comment) for comment in own]

    def older_comment(self, comment: OlderComment) -> list[ExportEntry]:
        """Return a comment of the user's that moved off its post."""
        return [_comment(comment["post_id"], comment)]

    def vote(self, vote: PollVote) -> list[ExportEntry]:
        """Return a vote of the user's in a poll."""
        fields = {"post_id": vote["post_id"], "option": vote["option"]}
        return [entry("vote", **fields, voted_at=vote["ts"])]

    def watch(self, watch: AuthorWatch) -> list[ExportEntry]:
        """Return the id of an author whom the user watches."""
        return [entry("author_watch", user_id=watch["author_id"], since=watch["since"])]

    def addressed_post(self, audience: Audience) -> list[ExportEntry]:
        """Return the id of a post whose recorded audience has the user."""
        return [entry("addressed_post", post_id=audience["post_id"], posted_at=audience["ts"])]


def _comment(post_id: str, comment: PostComment) -> ExportEntry:
    fields: dict[str, Any] = {"post_id": post_id, "id": comment["id"], "author": comment["by"]}
    dates = {"posted_at": comment["ts"], "edited_at": comment.get("edited")}
    return entry("post_comment", **fields, **dates, text=comment["text"])
