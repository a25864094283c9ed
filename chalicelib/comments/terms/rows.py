"""Search rows: one for each comment that readers see, by its node and id, with its words.

If only the shadowed author sees a comment, each word in its row begins with the author's id: no
other reader's query matches these words, and no count includes them.
"""

from collections.abc import Iterable
from datetime import datetime
from itertools import islice
from typing import Annotated, TypedDict

from pymongo import IndexModel

from chalicelib.comments.entries.rows import revision_of
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.store import is_shadow
from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost
from chalicelib.terms.finding import BY_TERM
from chalicelib.terms.plain import plain_text
from chalicelib.words import index_tokens

# Searches find a longer comment by its beginning.
MAX_TERMS = 200
# No word contains this character, so a word with an author's prefix equals no plain word.
_OWN = "\x00"


class CommentTerms(TypedDict):
    """The words of a comment; `_id` is `{node}/{id}`.

    revision: the time of its last edit, in milliseconds; 0: never edited.
    """

    _id: str
    site: str
    posted: datetime
    author_id: str
    revision: int
    terms: Annotated[list[str], AtMost(MAX_TERMS)]


TERMS = Collection(
    "comments.term",
    CommentTerms,
    indexes=(
        IndexModel(BY_TERM),
        # Finds a person's rows for an erasure.
        IndexModel("author_id"),
    ),
    shard_key={"site": 1, "_id": 1},
)


def row_of(node: Node, comment: Comment) -> CommentTerms | None:
    """Return the row of a comment.

    None if it has no words, or is visible neither to readers nor to its shadowed author.
    """
    author, html = comment["author"], comment["html"]
    if author is None or html is None:
        return None
    is_concealed = is_shadow(comment)
    if (comment.get("shadow") if is_concealed else comment["state"]) != "visible":
        return None
    words: Iterable[str] = islice(dict.fromkeys(index_tokens(plain_text(html))), MAX_TERMS)
    if is_concealed:
        words = own_words(author["id"], words)
    terms = list(words)
    if not terms:
        return None
    return {
        "_id": f"{node['_id']}/{comment['id']}",
        "site": node["site"],
        "posted": comment["posted"],
        "author_id": author["id"],
        "revision": revision_of(comment),
        "terms": terms,
    }


def own_words(user_id: str, words: Iterable[str]) -> list[str]:
    """Return words with the prefix for comments that only their shadowed author sees."""
    return [f"{own_form(user_id)}{word}" for word in words]


def own_form(user_id: str) -> str:
    """Return the prefix of words in comments that only their shadowed author sees."""
    return f"{_OWN}{user_id}{_OWN}"


def words_of(row: CommentTerms) -> set[str]:
    """Return the words of a row without an author's prefix."""
    return {term.rpartition(_OWN)[2] for term in row["terms"]}


def insertion_of(row: CommentTerms) -> tuple[Document, Document]:
    """Return the key of a row, and its other fields."""
    fields: Document = {**row}
    return {"_id": fields.pop("_id"), "site": fields.pop("site")}, fields
