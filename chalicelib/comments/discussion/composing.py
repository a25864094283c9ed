"""A comment as it is going to be stored: rendered, judged and put in its place."""

import random
from collections.abc import Sequence
from typing import NamedTuple

from chalicelib.comments import happened, seen
from chalicelib.comments.discussion.filing import filed
from chalicelib.comments.forms import CommentEdit, NewComment
from chalicelib.comments.judgement import JudgedText, Judgement, WriterStanding, judge
from chalicelib.comments.mentions import Mention, Mentions
from chalicelib.comments.order import segment
from chalicelib.comments.people import members
from chalicelib.comments.people.admission import Admitted, author_of
from chalicelib.comments.rendered import RENDERER, rendered
from chalicelib.comments.shapes import Comment, CommentSite, Node
from chalicelib.comments.sites import settings
from chalicelib.comments.spam_check.origins import Sender
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.sites.permissions import moderates

# Crockford's base32: no letter that reads like another letter or a digit.
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_ID_CHARACTERS = 10


class Draft(NamedTuple):
    """A comment as it was sent, its author as the site knew them, and whom it may mention."""

    new: NewComment
    author: Principal
    admitted: Admitted
    # The id that its comment has, unless that is taken.
    comment_id: str = ""
    others: int = 0
    people: Sequence[Mention] = ()
    # Where it comes from, if that is asked about.
    sender: Sender | None = None

    def with_another_id(self, runtime: Runtime) -> "Draft":
        """Return the draft of the same comment under a new id."""
        return self._replace(comment_id=new_comment_id(runtime.random))


def new_comment_id(rng: random.Random) -> str:
    """Return ten random characters: 50 bits, unique within a node."""
    return "".join(rng.choices(_ALPHABET, k=_ID_CHARACTERS))


def draft(
    runtime: Runtime, node: Node, new: NewComment, author: Principal, admitted: Admitted
) -> Draft:
    """Return a comment with the id that it shall have; raises Duplicate."""
    made = new_comment_id(runtime.random)
    others = others_of(runtime, node, made, new.text, author)
    people = members.among(runtime, node, new.mentions)
    return Draft(new, author, admitted, made, others, people)


def people_of(runtime: Runtime, node: Node, comment: Comment, edit: CommentEdit) -> list[Mention]:
    """Return the people whom an edited text may mention: as before, or members of the node."""
    before = comment.get("mentions", [])
    if edit.mentions is None:
        return before
    wanted = edit.mentions
    kept = [each for each in before if each["id"] in wanted]
    known = {each["id"] for each in kept}
    return kept + members.among(runtime, node, [each for each in wanted if each not in known])


def check(runtime: Runtime, site: str, written: Draft, rules: CommentSite) -> None:
    """Raise what a comment is refused with by these settings: CommentTooLarge, TextRefused."""
    html, _ = _rendered(runtime, site, written)
    _judged(written, html, rules)


def placed(runtime: Runtime, node: Node, parent: Comment | None, written: Draft) -> Comment:
    """Return a comment in its place, below the one that it replies to.

    Raises CommentTooLarge and TextRefused.
    """
    author, comment_id = written.author, written.comment_id
    html, mentions = _rendered(runtime, node["site"], written)
    verdict = _judged(written, html, settings.in_force(runtime, node))
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
    return {**comment, **filed(verdict, posted, is_shadowed=written.admitted.is_shadowed)}


def _rendered(runtime: Runtime, site: str, written: Draft) -> tuple[str, list[Mention]]:
    """Return the HTML of a comment, and whom it mentions; raises CommentTooLarge."""
    mentions = Mentions(written.people)
    html = rendered(runtime, site, written.new.text, mentions)
    return html, mentions.found


def _judged(written: Draft, html: str, rules: CommentSite) -> Judgement:
    """Return what becomes of a new text by the settings that hold there; raises TextRefused."""
    new = written.new
    is_asked = written.sender is not None and bool(rules.get("spam_check_url"))
    # One that is hidden whatever it says is shown to its author at once.
    is_checked = is_asked and not written.admitted.is_shadowed
    text = JudgedText(new.text, html, new.website, new.written_ms, written.others, is_checked)
    return judge(text, writer_of(written.author, written.admitted), rules)


def others_of(runtime: Runtime, node: Node, comment_id: str, text: str, author: Principal) -> int:
    """Note the text of a comment, and return how many others have lately written the same.

    Nothing is noted of moderators, and where nobody asks. Raises Duplicate.
    """
    repeats = settings.in_force(runtime, node)["repeats"]
    if repeats == "allow" or moderates(author, node["site"]):
        return 0
    thing = happened.name_of(node["_id"], comment_id)
    return seen.mark(runtime, seen.Writing(node["site"], author.id, thing, text))


def writer_of(author: Principal, admitted: Admitted) -> WriterStanding:
    """Return the author of a text as a judge is told of them."""
    person = admitted.person
    is_moderator = moderates(author, person["site"])
    return WriterStanding(is_moderator, admitted.trust, person["counts"]["visible"])
