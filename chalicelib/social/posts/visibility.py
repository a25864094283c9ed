"""Visibility of posts and comments: pure functions of documents that the caller has read."""

from chalicelib.social.graph.audience import PUBLIC, Reader, is_in_circles
from chalicelib.social.posts.forms import AT_POST
from chalicelib.social.posts.shapes import AddressedPost, PostComment, ShownPost


def may_see(reader: Reader, post: AddressedPost) -> bool:
    """Return whether the reader may see a post.

    The author always may. A block between reader and author hides the post. The owner of the post's
    wall may see it. Any other reader may see a public post. A post to circles is for their members
    at posting or now, by its `audience`.
    """
    author = post["by"]["id"]
    if reader.id == author:
        return True
    if author in reader.blocked:
        return False
    if reader.id is not None and reader.id == post["wall"]:
        return True
    return post["circles"] == [PUBLIC] or _is_in_audience(reader, post)


def _is_in_audience(reader: Reader, post: AddressedPost) -> bool:
    if post["audience"] == AT_POST:
        return post["id"] in reader.kept
    return is_in_circles(reader, post["by"]["id"], post["circles"])


def was_sent(reader: Reader, post: AddressedPost) -> bool:
    """Return whether another author sent a post to the reader: to the wall, or through circles."""
    if reader.id == post["by"]["id"]:
        return False
    if reader.id == post["wall"]:
        return True
    return post["circles"] != [PUBLIC] and _is_in_audience(reader, post)


def is_on_wall(owner: Reader, reader_id: str | None, post: AddressedPost) -> bool:
    """Return whether a wall shows a post to a reader who may see it.

    `owner`: the wall's owner, with the relations to the authors. Returns False also for a leftover
    copy of a post that the owner took off the wall: `wall` names the author.
    """
    author = post["by"]["id"]
    if author == owner.id:
        return True
    if post["wall"] != owner.id or author in owner.blocked:
        return False
    return reader_id in {owner.id, author} or author in owner.following


def without_hidden(reader: Reader, post: ShownPost) -> ShownPost:
    """Return a post without the comments that blocks hide from a reader."""
    return {
        **post,
        "comments": [each for each in post["comments"] if may_see_comment(reader, each)],
    }


def may_see_comment(reader: Reader, comment: PostComment) -> bool:
    """Return whether no block hides a comment from the reader, who may see its post."""
    return comment["by"]["id"] not in reader.blocked
