"""Judgement of a text before it is read: shown, held for a moderator, or refused."""

import html
import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from chalicelib.comments.errors import TextRefused
from chalicelib.comments.shapes import CommentSite, Reason
from chalicelib.texts import without_all_blanks

# A text and a phrase are compared as words: compatibility forms, case, invisible characters and
# separators make no difference. A phrase is a literal, never a regular expression: none can be
# slow.

ANY = "*"
_BETWEEN_WORDS = re.compile(r"[^a-z0-9]+")
# Between two texts that are searched as one; no phrase has it.
_APART = " \n "


def words(text: str) -> str:
    """Return the words of a text, one space before, between and after them."""
    if text.isascii():
        found = _BETWEEN_WORDS.sub(" ", text.lower())
    else:
        folded = unicodedata.normalize("NFKC", without_all_blanks(text)).casefold()
        # Folding can undo the composition of what it folds.
        folded = unicodedata.normalize("NFKC", folded)
        found = "".join(each if _is_of_word(each) else " " for each in folded)
    return f" {' '.join(found.split())} "


def _is_of_word(character: str) -> bool:
    """Return whether a character is part of a word: vowels of many scripts are marks."""
    return character.isalnum() or unicodedata.category(character)[0] == "M"


def searched(texts: Iterable[str]) -> str:
    """Return texts in the form in which phrases are searched for."""
    return _APART.join(words(text) for text in texts)


@lru_cache(maxsize=4_096)
def needle(phrase: str) -> str:
    """Return what a phrase looks for in `searched` texts; blank if it has no word.

    A `*` at an end of the phrase stands for the rest of the word there.
    """
    found = words(phrase.strip(ANY))
    if not found.strip():
        return ""
    start = 1 if phrase.startswith(ANY) else 0
    return found[start:-1] if phrase.endswith(ANY) else found[start:]


def is_in(phrase: str, text: str) -> bool:
    """Return whether a phrase is in `searched` texts, in a time linear in their length."""
    return needle(phrase) in text


# Nobody writes a comment faster than this; programs that fill in forms do.
QUICKEST_MS = 3_000
_TAGS = re.compile(r"<[^>]*>")
_LINK = "<a "
# A text that so many people have written is nobody's own.
PEOPLE_OF_REPEATED = 3
# The reasons for which a text is filed as spam.
SPAM: frozenset[Reason] = frozenset({"decoy", "too_quick", "repeated"})


class Written(NamedTuple):
    """A text as its author sent it and as it is shown, and what came along with it."""

    text: str
    html: str
    # What a field holds that people do not see.
    decoy: str = ""
    # How long the form was open, if that is known.
    open_ms: int | None = None
    # How many others have lately written the same.
    others: int = 0
    # Whether a service is asked about it, too.
    is_checked: bool = False


class Writer(NamedTuple):
    """Who wrote a text: how far the site trusts them, and how many comments it has approved."""

    is_moderator: bool
    trust: int = 0
    approved: int = 0


class Verdict(NamedTuple):
    """The state that a comment gets, and why it is held."""

    state: Literal["visible", "pending", "spam"]
    reasons: list[Reason]


def judge(written: Written, writer: Writer, site: CommentSite) -> Verdict:
    """Return what becomes of a text where these settings hold; raises TextRefused.

    What a program has sent is filed without a word: a refusal would tell it what to change. So is
    what many have written. What a moderator writes is not searched.
    """
    reasons: list[Reason] = list(_sent_by_a_program(written))
    if not reasons and not writer.is_moderator:
        reasons += _found_in(written, writer, site)
        if writer.approved < site["approve_first"]:
            reasons.append("first")
    if site["moderation"] == "before":
        reasons.append("before")
    if not SPAM.isdisjoint(reasons):
        return Verdict("spam", reasons)
    if written.is_checked and not writer.is_moderator:
        reasons.append("checking")
    return Verdict("pending" if reasons else "visible", reasons)


def _sent_by_a_program(written: Written) -> Sequence[Reason]:
    if written.decoy:
        return ["decoy"]
    if written.open_ms is not None and written.open_ms < QUICKEST_MS:
        return ["too_quick"]
    return []


def _found_in(written: Written, writer: Writer, site: CommentSite) -> Sequence[Reason]:
    """Return the reasons to hold that a text itself gives; raises TextRefused."""
    found: list[Reason] = []
    if site["phrases"]:
        # The Markdown too, since it has the addresses of links; the HTML, since marks of Markdown
        # can stand within a word.
        text = searched((written.text, html.unescape(_TAGS.sub("", written.html))))
        actions = {each["action"] for each in site["phrases"] if is_in(each["phrase"], text)}
        if "reject" in actions:
            raise TextRefused
        if actions:
            found.append("phrase")
    if site["max_links"] is not None:
        # Spam is mostly the first that somebody posts, and for the sake of a link.
        allowed = site["max_links"] if writer.trust else 0
        if written.html.count(_LINK) > allowed:
            found.append("links")
    if written.others + 1 >= PEOPLE_OF_REPEATED:
        found.append("repeated")
    return found
