"""Judgement of a text: show it, hold it for a moderator, or refuse it; the state that follows."""

import html
import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Literal, NamedTuple

from chalicelib.comments.errors import TextRefused
from chalicelib.comments.shapes import Comment, CommentFields, CommentSite, Reason
from chalicelib.comments.store import is_shadow, told_state
from chalicelib.texts import without_all_blanks

# Texts and phrases compare as words: compatibility forms, case, invisible characters and separators
# make no difference. A phrase is a literal, never a regular expression, so no phrase is slow.

ANY = "*"
_BETWEEN_WORDS = re.compile(r"[^a-z0-9]+")
# Its capital is an `I`, and the capital of `i` has a dot, which folds to a mark.
_TURKISH = str.maketrans("\u0131", "i")
# Separates texts that form one search string; no phrase contains it.
_APART = " \n "


def words(text: str) -> str:
    """Return the words of a text, one space before, between and after them."""
    if text.isascii():
        found = _BETWEEN_WORDS.sub(" ", text.lower())
    else:
        folded = unicodedata.normalize("NFKC", without_all_blanks(text)).casefold()
        # Folding can decompose characters again.
        folded = unicodedata.normalize("NFKC", folded).translate(_TURKISH).replace("i\u0307", "i")
        found = "".join(each if _is_of_word(each) else " " for each in folded)
    return f" {' '.join(found.split())} "


def _is_of_word(character: str) -> bool:
    """Return whether a character is part of a word: vowels of many scripts are marks."""
    return character.isalnum() or unicodedata.category(character)[0] == "M"


def searchable(texts: Iterable[str]) -> str:
    """Return texts in the form that `is_in` searches."""
    return _APART.join(words(text) for text in texts)


@lru_cache(maxsize=4_096)
def needle(phrase: str) -> str:
    """Return the string to find in `searchable` texts for a phrase; blank: it has no word.

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
# A text by this many people is a copy.
PEOPLE_OF_REPEATED = 3
# Reasons that end without a moderator, by a service's answer or a confirmed address.
PASSING: frozenset[Reason] = frozenset({"checking", "unchecked", "unconfirmed"})
# Reasons that file a text as spam.
SPAM: frozenset[Reason] = frozenset({"decoy", "too_quick", "repeated"})


class JudgedText(NamedTuple):
    """A text as sent and as rendered, with the facts that came along."""

    text: str
    html: str
    # The content of a field that people do not see.
    decoy: str = ""
    # How long the form was open; None: unknown.
    open_ms: int | None = None
    # How many other people lately wrote the same.
    others: int = 0
    # Whether a service checks it, too.
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
    """The state of a new comment, and the reasons to hold it."""

    state: Literal["visible", "pending", "spam"]
    reasons: list[Reason]


def judge(written: JudgedText, writer: WriterStanding, site: CommentSite) -> Judgement:
    """Return the verdict on a text under a site's settings; raises TextRefused.

    Texts of programs and texts that many people sent become spam silently: a refusal would show
    their senders how to pass. A moderator's text is not searched.
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

    The author of spam sees it as `pending`.
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

    A comment that waits for a moderator goes on waiting for one, whatever the new text is: also
    without a reason, as where a moderator has held it back.
    """
    former, new = comment.get("reasons", []), verdict.reasons
    if told_state(comment) == "pending" and not former:
        new = [each for each in new if each not in PASSING]
    return list(dict.fromkeys([*new, *(each for each in former if each not in PASSING)]))


def is_quick(open_ms: int | None) -> bool:
    """Return whether a form was open for less time than people need to write."""
    return open_ms is not None and open_ms < QUICKEST_MS


def _signs_of_program(written: JudgedText, writer: WriterStanding) -> Sequence[Reason]:
    if written.decoy:
        return ["decoy"]
    is_known = writer.is_moderator or writer.approved > 0
    # A person whose comments the site shows may answer in a word.
    if not is_known and is_quick(written.open_ms):
        return ["too_quick"]
    return []


def _reasons_in(written: JudgedText, writer: WriterStanding, site: CommentSite) -> Sequence[Reason]:
    """Return the reasons to hold a text that stand in it; raises TextRefused."""
    found: list[Reason] = []
    if site["phrases"]:
        # The Markdown too, since it has the addresses of links; the HTML, since marks of Markdown
        # can stand within a word, and without marks that are shown there.
        shown = html.unescape(_TAGS.sub("", written.html))
        text = searchable((written.text, shown, _MARKS.sub("", shown)))
        actions = {each["action"] for each in site["phrases"] if is_in(each["phrase"], text)}
        if "reject" in actions:
            raise TextRefused
        if actions:
            found.append("phrase")
    if site["max_links"] is not None:
        # Spam is mostly an author's first text, and has a link.
        allowed = site["max_links"] if writer.trust else 0
        if written.html.count(_LINK) > allowed:
            found.append("links")
    if written.others + 1 >= PEOPLE_OF_REPEATED:
        found.append("repeated")
    return found
