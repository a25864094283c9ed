"""New comments: text becomes HTML, a verdict gives a state, and the parent gives a place.

Nothing here reads or writes the database.
"""

import random
from collections.abc import Sequence
from typing import NamedTuple

from chalicelib.comments.forms import NewComment
from chalicelib.comments.judgement import (
    JudgedText,
    Judgement,
    WriterStanding,
    fields_of_new,
    judge,
)
from chalicelib.comments.mentions import Mention, Mentions
from chalicelib.comments.people.rows import approved_of
from chalicelib.comments.rendered import RENDERER, render_text
from chalicelib.comments.shapes import MAX_BADGES, Author, Comment, Node
from chalicelib.comments.spam_check.origins import Sender
from chalicelib.comments.store import segment
from chalicelib.comments.writing.door import AuthorStanding
from chalicelib.runtime import Runtime
from chalicelib.sites.permissions import owns

# Crockford's base32: no letter that reads like another letter or a digit.
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
ID_CHARACTERS = 10


class CommentDraft(NamedTuple):
    """A comment as its author sent it, with the facts that place and judge it."""

    new: NewComment
    standing: AuthorStanding
    # The id of the comment, unless another comment has it.
    comment_id: str = ""
    # The number of other recent authors of the text.
    others: int = 0
    # The people whom it may mention.
    people: Sequence[Mention] = ()
    # None without a spam check.
    sender: Sender | None = None

    def with_another_id(self, runtime: Runtime) -> "CommentDraft":
        """Return the draft of the same comment under a new id."""
        return self._replace(comment_id=new_comment_id(runtime.random))


def new_comment_id(rng: random.Random) -> str:
    """Return ten random characters, 50 bits; callers replace an id that the node already has."""
    return "".join(rng.choices(ALPHABET, k=ID_CHARACTERS))


def check(runtime: Runtime, site: str, written: CommentDraft) -> None:
    """Raise CommentTooLarge or TextRefused for a draft that its site refuses."""
    html, _ = _render(runtime, site, written)
    _judge(written, html)


def place(runtime: Runtime, node: Node, parent: Comment | None, written: CommentDraft) -> Comment:
    """Return a comment in its place below its parent; raises CommentTooLarge and TextRefused."""
    comment_id, standing = written.comment_id, written.standing
    html, mentions = _render(runtime, node["site"], written)
    verdict = _judge(written, html)
    # `last_posted` is not None: the comment has a number, and numbering sets the time.
    posted, seq = node["last_posted"] or runtime.now(), node["last_seq"]
    # Below the deepest level a reply joins the replies to its parent's parent.
    ids = parent["slug"].split("/")[: node["max_depth"]] if parent else []
    segments = parent["full_slug"].split("/")[: node["max_depth"]] if parent else []
    comment = Comment(
        id=comment_id,
        seq=seq,
        parent_id=ids[-1] if ids else None,
        slug="/".join([*ids, comment_id]),
        full_slug="/".join([*segments, segment(posted, seq, comment_id)]),
        depth=len(ids),
        posted=posted,
        edited=None,
        author=_author(standing),
        text=written.new.text,
        html=html,
        renderer=RENDERER,
        state=verdict.state,
        reply_count=0,
    )
    if mentions:
        comment["mentions"] = mentions
    if parent is not None and parent["id"] != comment["parent_id"]:
        comment["reply_to"] = parent["id"]
    fields = fields_of_new(verdict, posted, is_shadowed=standing.admitted.is_shadowed)
    return {**comment, **fields}


def writer_of(standing: AuthorStanding) -> WriterStanding:
    """Return the author's standing as the judge needs it."""
    author, (person, trust, _) = standing.author, standing.admitted
    is_unconfirmed = author.is_guest and "email_key" not in person
    return WriterStanding(standing.is_moderator, trust, approved_of(person), is_unconfirmed)


def _author(standing: AuthorStanding) -> Author:
    """Return the author of a comment, with their present badges and role."""
    author, person = standing.author, standing.admitted.person
    # Badges from the site's moderators come first.
    badges = list(dict.fromkeys([*person["badges"], *author.badges]))[:MAX_BADGES]
    made: Author = {"id": author.id, "name": author.name}
    if badges:
        made["badges"] = badges
    if owns(author, person["site"]) and not author.has("moderator", "admin"):
        made["role"] = "publisher"
    elif standing.is_moderator:
        made["role"] = "moderator"
    return made


def _render(runtime: Runtime, site: str, written: CommentDraft) -> tuple[str, list[Mention]]:
    """Return the HTML of a comment, and the people whom it mentions; raises CommentTooLarge."""
    mentions = Mentions(written.people) if written.people else None
    html = render_text(runtime, site, written.new.text, mentions)
    return html, mentions.people if mentions else []


def _judge(written: CommentDraft, html: str) -> Judgement:
    """Return the verdict on a new text under the rules of its node; raises TextRefused."""
    new, rules = written.new, written.standing.rules
    # Also for a shadowed author, whose text would otherwise appear without the usual wait.
    is_checked = written.sender is not None and bool(rules.get("spam_check_url"))
    text = JudgedText(new.text, html, new.website, new.written_ms, written.others, is_checked)
    return judge(text, writer_of(written.standing), rules)
