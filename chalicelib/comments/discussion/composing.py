"""New comments: text becomes HTML, a verdict gives a state, and the parent gives a place."""

import random
from collections.abc import Sequence
from typing import NamedTuple

from chalicelib.comments import happened, seen
from chalicelib.comments.discussion.filing import fields_of_new
from chalicelib.comments.forms import CommentEdit, NewComment
from chalicelib.comments.judgement import (
    JudgedText,
    Judgement,
    WriterStanding,
    is_quick,
    judge,
)
from chalicelib.comments.mentions import Mention, Mentions
from chalicelib.comments.order import segment
from chalicelib.comments.people import counting, members
from chalicelib.comments.people.admission import Admitted, author_of
from chalicelib.comments.people.rows import approved_of
from chalicelib.comments.rendered import RENDERER, render_text
from chalicelib.comments.shapes import Comment, CommentSite, Node
from chalicelib.comments.sites import settings
from chalicelib.comments.spam_check.origins import Sender
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.sites.permissions import moderates

# Crockford's base32: no letter that reads like another letter or a digit.
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
ID_CHARACTERS = 10


class CommentDraft(NamedTuple):
    """A comment as its author sent it, with the facts that place and judge it."""

    new: NewComment
    author: Principal
    admitted: Admitted
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
    """Return ten random characters: 50 bits, unique within a node."""
    return "".join(rng.choices(ALPHABET, k=ID_CHARACTERS))


def draft(
    runtime: Runtime, node: Node, new: NewComment, author: Principal, admitted: Admitted
) -> CommentDraft:
    """Return the draft of a comment under a new id; raises Duplicate."""
    made = new_comment_id(runtime.random)
    others = others_of(runtime, node, made, new.text, author)
    people = members.among(runtime, node, new.mentions, author)
    return CommentDraft(new, author, admitted, made, others, people)


def people_of(
    runtime: Runtime, node: Node, comment: Comment, edit: CommentEdit, caller: Principal
) -> list[Mention]:
    """Return the people whom an edited text may mention: former mentions, or members."""
    before = comment.get("mentions", [])
    if edit.mentions is None:
        return before
    wanted = edit.mentions
    kept = [each for each in before if each["id"] in wanted]
    known = {each["id"] for each in kept}
    new = [each for each in wanted if each not in known]
    return kept + members.among(runtime, node, new, caller)


def check(runtime: Runtime, site: str, written: CommentDraft, rules: CommentSite) -> None:
    """Raise CommentTooLarge or TextRefused for a draft that these settings refuse."""
    html, _ = _render(runtime, site, written)
    _judge(runtime, written, html, rules)


def place(runtime: Runtime, node: Node, parent: Comment | None, written: CommentDraft) -> Comment:
    """Return a comment in its place below its parent; raises CommentTooLarge and TextRefused."""
    author, comment_id = written.author, written.comment_id
    html, mentions = _render(runtime, node["site"], written)
    verdict = _judge(runtime, written, html, settings.in_force(runtime, node))
    # The node has a time, since the comment has a number.
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
        author=author_of(author, written.admitted),
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
    return {**comment, **fields_of_new(verdict, posted, is_shadowed=written.admitted.is_shadowed)}


def _render(runtime: Runtime, site: str, written: CommentDraft) -> tuple[str, list[Mention]]:
    """Return the HTML of a comment, and the people whom it mentions; raises CommentTooLarge."""
    mentions = Mentions(written.people)
    html = render_text(runtime, site, written.new.text, mentions)
    return html, mentions.people


def _judge(runtime: Runtime, written: CommentDraft, html: str, rules: CommentSite) -> Judgement:
    """Return the verdict on a new text under these settings; raises TextRefused."""
    new = written.new
    # Also of a shadowed author: without a check, they would see it too soon.
    is_checked = written.sender is not None and bool(rules.get("spam_check_url"))
    text = JudgedText(new.text, html, new.website, new.written_ms, written.others, is_checked)
    writer = writer_of(written.author, written.admitted)
    if not writer.approved and is_quick(new.written_ms):
        # The counts follow a first comment by minutes, and a second may follow it at once.
        person = counting.count(runtime.database, written.admitted.person)
        writer = writer._replace(approved=approved_of(person))
    return judge(text, writer, rules)


def others_of(runtime: Runtime, node: Node, comment_id: str, text: str, author: Principal) -> int:
    """Note the text of a comment; return the number of other recent authors of the text.

    It returns 0 for moderators, and at sites that allow repeats. Raises Duplicate.
    """
    repeats = settings.in_force(runtime, node)["repeats"]
    if repeats == "allow" or moderates(author, node["site"]):
        return 0
    thing = happened.name_of(node["_id"], comment_id)
    return seen.mark(runtime, seen.Writing(node["site"], author.id, thing, text))


def writer_of(author: Principal, admitted: Admitted) -> WriterStanding:
    """Return the author's standing as the judge needs it."""
    person = admitted.person
    is_moderator = moderates(author, person["site"])
    is_unconfirmed = author.is_guest and "email_key" not in person
    return WriterStanding(is_moderator, admitted.trust, approved_of(person), is_unconfirmed)
