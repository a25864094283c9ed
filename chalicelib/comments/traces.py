"""The traces of a person in comments: for an export, and for the count after an erasure."""

from pymongo.database import Database

from chalicelib.comments import exports, nodes, watches
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.log.rows import BATCHES, LOG
from chalicelib.comments.moderation.queue import PENDING
from chalicelib.comments.people.links import CONFIRMATIONS
from chalicelib.comments.people.rows import PEOPLE
from chalicelib.comments.spam_check.origins import ORIGINS
from chalicelib.comments.stores.buckets import PAGES
from chalicelib.comments.stores.documents import COMMENTS
from chalicelib.comments.terms.rows import TERMS
from chalicelib.database import Document
from chalicelib.people.features import KeptText, Trace

KEPT: tuple[KeptText, ...] = (
    {
        "where": "Notes and reasons of moderators about other people, and the log of them",
        "reason": "Free texts of the site's staff about somebody else; no id connects them to you.",
    },
    {
        "where": "Notes in reports of other people's comments",
        "reason": "Free texts of those who reported, for the moderators of the site.",
    },
    {
        "where": "Comments of others that write your name without mentioning you",
        "reason": "They are their authors' words; your mentions in them end.",
    },
    {
        "where": "Files of exports and imports of a site's comments, for a week at most",
        "reason": "Their publisher may be reading them; they go by themselves.",
    },
)


def find(database: Database[Document], user_id: str) -> list[Trace]:
    """Return the collections that may hold data of a user, each with its filter."""
    show = exports.OfAuthor(user_id)
    named = {"author.id": user_id}
    return [
        Trace("comments", COMMENTS.of(database), named, show.row),
        Trace("comment pages", PAGES.of(database), {"comments.author.id": user_id}, show.page),
        Trace("comment nodes", nodes.NODES.of(database), {"metadata.authors": user_id}, show.node),
        Trace(
            "pending comments",
            PENDING.of(database),
            named,
            not_shown="a row of the queue beside a comment, which the export shows",
        ),
        *_entry_traces(database, user_id),
        *_moderation_traces(database, user_id),
        Trace("origins of comments", ORIGINS.of(database), {"person": user_id}, exports.origin),
        Trace("links in letters", CONFIRMATIONS.of(database), {"person": user_id}, exports.link),
        Trace("watches", watches.WATCHES.of(database), {"user_id": user_id}, exports.watch),
        Trace("people of sites", PEOPLE.of(database), {"user_id": user_id}, exports.person),
        Trace("people of before", PEOPLE.of(database), {"joined": user_id}, exports.past),
        Trace(
            "blocked at sites",
            PEOPLE.of(database),
            {"blocked": user_id},
            not_shown="who blocks whom is theirs alone",
        ),
    ]


def _entry_traces(database: Database[Document], user_id: str) -> list[Trace]:
    return [
        Trace(
            "comment entries",
            ENTRIES.of(database),
            {"author_id": user_id},
            not_shown="a row beside each comment, which is shown itself",
        ),
        Trace(
            "claimed comments",
            ENTRIES.of(database),
            {"claimed.by": user_id},
            not_shown="which comments a moderator reads at the moment",
        ),
        Trace(
            "mentions in comments",
            ENTRIES.of(database),
            {"mentioned": user_id},
            not_shown="a comment that mentions somebody is its author's",
        ),
        Trace(
            "words of comments",
            TERMS.of(database),
            {"author_id": user_id},
            not_shown="the words of a comment, which is shown itself",
        ),
    ]


def _moderation_traces(database: Database[Document], user_id: str) -> list[Trace]:
    return [
        Trace("acts of moderators", LOG.of(database), {"by": user_id}, exports.act),
        Trace(
            "acts on somebody",
            LOG.of(database),
            {"person": user_id},
            not_shown="what moderators note of each other's acts is theirs",
        ),
        Trace("batches of moderators", BATCHES.of(database), {"by": user_id}, exports.batch),
        Trace(
            "batches on somebody",
            BATCHES.of(database),
            {"person": user_id},
            not_shown="what moderators note of each other's acts is theirs",
        ),
    ]
