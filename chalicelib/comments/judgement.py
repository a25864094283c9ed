"""Judgement of a text: show it, hold it for a moderator, file it as spam, or refuse it."""

import html
import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Literal, NamedTuple

from chalicelib.comments.errors import TextRefused
from chalicelib.comments.shapes import Comment, CommentFields, CommentSite, Reason
from chalicelib.comments.store import is_shadow, state_for_author
from chalicelib.texts import without_all_blanks

# Texts and phrases compare as words: compatibility forms, case, invisible characters and separators
# make no difference. A phrase is a literal, never a regular expression, so no phrase is slow.

ANY = "*"
_BETWEEN_WORDS = re.compile(r"[^a-z0-9]+")
# The dotless i counts as `i`; the capital with a dot folds to `i` and the mark U+0307.
_TURKISH = str.maketrans("\u0131", "i")
# Separates texts that form one search string; no phrase contains it.
_APART = " \n "


def words(text: str) -> str:
    """Return the folded words of a text, with one space before, between and after them."""
    if text.isascii():
        found = _BETWEEN_WORDS.sub(" ", text.lower())
    else:
        folded = unicodedata.normalize("NFKC", without_all_blanks(text)).casefold()
        # Folding can decompose characters again.
        folded = unicodedata.normalize("NFKC", folded).translate(_TURKISH).replace("i\u0307", "i")
        found = "".join(each if _is_of_word(each) else " " for each in folded)
    return f" {' '.join(found.split())} "


def _is_of_word(character: str) -> bool:
    """Return whether a character is a letter, a digit, or a mark (a vowel in many scripts)."""
    return character.isalnum() or unicodedata.category(character)[0] == "M"


def searchable(texts: Iterable[str]) -> str:
    """Return texts in the form that `is_in` searches."""
    return _APART.join(words(text) for text in texts)


@lru_cache(maxsize=4_096)
def needle(phrase: str) -> str:
    """Return the substring to find in `searchable` texts; empty for a phrase without words.

    A `*` at an end of the phrase stands for the rest of the word there.
    """
    found = words(phrase.strip(ANY))
    if not found.strip():
        return ""
    start = 1 if phrase.startswith(ANY) else 0
    return found[start:-1] if phrase.endswith(ANY) else found[start:]


def is_in(phrase: str, text: str) -> bool:
    """Return whether a phrase is in `searchable` texts; time is linear in their length."""
    return needle(phrase) in text


# No person writes a comment faster than this; programs that fill in forms do.
QUICKEST_MS = 3_000
_TAGS = re.compile(r"<[^>]*>")
_MARKS = re.compile(r"[*_~`\\]+")
_LINK = "<a "
# A text that this many people wrote is spam.
PEOPLE_OF_REPEATED = 3
# Reasons that may end without a moderator: by an edit, a confirmed address, or the spam service.
PASSING: frozenset[Reason] = frozenset({"checking", "unchecked", "unconfirmed"})
# Reasons that file a text as spam.
SPAM: frozenset[Reason] = frozenset({"decoy", "too_quick", "repeated"})


class JudgedText(NamedTuple):
    """A text as sent and as rendered, with the facts that came along."""

    text: str
    html: str
    # The content of the hidden form field, which only programs fill in.
    decoy: str = ""
    # The milliseconds that the form was open; None: unknown.
    open_ms: int | None = None
    # The number of other people who lately wrote the same text.
    others: int = 0
    # Whether a spam service checks the text afterwards.
    is_checked: bool = False


class WriterStanding(NamedTuple):
    """The standing of a text's author: the site's trust, and the number of approved comments.

    `is_unconfirmed`: a guest without a confirmed address.
    """

    is_moderator: bool
    trust: int = 0
    approved: int = 0
    is_unconfirmed: bool = False


class Judgement(NamedTuple):
    """The verdict on a text: the state for its comment, and the reasons not to show it."""

    state: Literal["visible", "pending", "spam"]
    reasons: list[Reason]


def judge(written: JudgedText, writer: WriterStanding, site: CommentSite) -> Judgement:
    """Return the verdict on a text under a site's settings; raises TextRefused.

    Texts of programs, and a text that several people sent, become spam without an error: a refusal
    would show the senders how to pass. For a moderator's text, only the decoy field and the site's
    moderation before publication count.
    """
    reasons: list[Reason] = list(_signs_of_program(written, writer))
    if not reasons and not writer.is_moderator:
        reasons += _reasons_in(written, writer, site)
        if writer.approved < site["approve_first"]:
            reasons.append("first")
    if site["moderation"] == "before":
        reasons.append("before")
    if not SPAM.isdisjoint(reasons):
        return Judgement("spam", reasons)
    if written.is_checked and not writer.is_moderator:
        reasons.append("checking")
    if writer.is_unconfirmed and site.get("guests") == "email":
        reasons.append("unconfirmed")
    return Judgement("pending" if reasons else "visible", reasons)


def fields_of_new(verdict: Judgement, now: datetime, *, is_shadowed: bool) -> CommentFields:
    """Return the fields that a verdict gives a new comment.

    `is_shadowed`: the site hides the author's comments from other readers. The author of spam sees
    it as `pending`.
    """
    fields: CommentFields = {"state": "hidden" if is_shadowed else verdict.state}
    if verdict.reasons:
        fields["reasons"] = verdict.reasons
    if verdict.state == "spam":
        return {**fields, "state": "spam", "shadow": "pending", "spam_since": now}
    if is_shadowed:
        fields["shadow"] = verdict.state
    return fields


def fields_of_edit(
    comment: Comment, verdict: Judgement, now: datetime, *, is_shadowed: bool
) -> CommentFields:
    """Return the fields that the verdict on an author's edit changes."""
    reasons = _reasons_after(comment, verdict)
    fields: CommentFields = {"reasons": reasons} if verdict.reasons and reasons else {}
    if comment["state"] == "spam" or verdict.state == "spam":
        since = comment.get("spam_since") or now
        return {**fields, "state": "spam", "shadow": "pending", "spam_since": since}
    waits = verdict.state == "pending" or "pending" in {comment["state"], comment.get("shadow")}
    if is_shadowed or is_shadow(comment):
        return {**fields, "state": "hidden", "shadow": "pending" if waits else "visible"}
    return {**fields, "state": "pending"} if verdict.state == "pending" else fields


def _reasons_after(comment: Comment, verdict: Judgement) -> list[Reason]:
    """Return the reasons of an edited comment.

    Former reasons stay, except passing reasons. A comment that a moderator held back has no
    reasons: it gets no passing reason either, since only a moderator may end its wait.
    """
    former, new = comment.get("reasons", []), verdict.reasons
    if state_for_author(comment) == "pending" and not former:
        new = [each for each in new if each not in PASSING]
    return list(dict.fromkeys([*new, *(each for each in former if each not in PASSING)]))


def is_quick(open_ms: int | None) -> bool:
    """Return whether a form was open for less time than people need to write."""
    return open_ms is not None and open_ms < QUICKEST_MS


def _signs_of_program(written: JudgedText, writer: WriterStanding) -> Sequence[Reason]:
    if written.decoy:
        return ["decoy"]
    is_known = writer.is_moderator or writer.approved > 0
    # An author with approved comments may send a short answer at once.
    if not is_known and is_quick(written.open_ms):
        return ["too_quick"]
    return []


def _reasons_in(written: JudgedText, writer: WriterStanding, site: CommentSite) -> Sequence[Reason]:
    """Return the reasons to hold a text for its phrases, links or copies; raises TextRefused."""
    found: list[Reason] = []
    if site["phrases"]:
        # Three forms: the Markdown has the addresses of links; in the shown text, no markup splits
        # a word; the third form also drops literal marks such as `*` from the shown text.
        shown = html.unescape(_TAGS.sub("", written.html))
        text = searchable((written.text, shown, _MARKS.sub("", shown)))
        actions = {each["action"] for each in site["phrases"] if is_in(each["phrase"], text)}
        if "reject" in actions:
            raise TextRefused
        if actions:
            found.append("phrase")
    if site["max_links"] is not None:
        # A link holds a text of an author without trust: spam is mostly a first text with a link.
        allowed = site["max_links"] if writer.trust else 0
        if written.html.count(_LINK) > allowed:
            found.append("links")
    if written.others + 1 >= PEOPLE_OF_REPEATED:
        found.append("repeated")
    return found
