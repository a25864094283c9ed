"""Export and erasure of a user's hits and sessions, on sites with reports by user."""

from datetime import datetime

from pymongo.database import Database

from chalicelib.analytics.hits import StoredHit
from chalicelib.analytics.logs.choosing import every_log
from chalicelib.analytics.sessions.periods import PERIODS, SESSIONS, StoredSession
from chalicelib.database import Document
from chalicelib.people.features import ExportEntry, KeptText, Step, Trace, entry
from chalicelib.runtime import Runtime

KEPT: tuple[KeptText, ...] = (
    {
        "where": "The paths of pages in the counts and the log of visits",
        "reason": "They name pages and no visitors; a site may have put your id or name into one.",
    },
)


def traces(database: Database[Document], user_id: str) -> list[Trace]:
    """Return a user's traces: hits in each log, sessions, and sums of sessions by period."""
    hits = [
        Trace(rows.name, rows, where, _to_entries)
        for log in every_log(database, {})
        for rows, where in log.of_user(user_id)
    ]
    own = {"user": user_id}
    sessions = Trace("sessions", SESSIONS.of(database), own, _session)
    periods = [
        Trace(f"sessions by {level}", rows.of(database), own, not_shown="sums of the sessions")
        for level, rows in PERIODS.items()
    ]
    return [*hits, sessions, *periods]


def rename(runtime: Runtime, user_id: str, name: str) -> None:
    """Do nothing: analytics store no person's name."""


def erase(runtime: Runtime, user_id: str, until: datetime | None = None) -> Step:
    """Delete a user's hits, sessions and sums of sessions; reports stay.

    `until`: only hits up to this time, and sessions and periods that began by then. None: all.
    """
    for log in every_log(runtime.database, {}):
        log.forget(user_id, until)
    started = {} if until is None else {"started": {"$lte": until}}
    SESSIONS.of(runtime.database).delete_many({"user": user_id, **started})
    periods = {} if until is None else {"period": {"$lte": until}}
    for rows in PERIODS.values():
        rows.of(runtime.database).delete_many({"user": user_id, **periods})
    return Step.DONE


def _to_entries(hit: StoredHit) -> list[ExportEntry]:
    fields = {"site": hit["site"], "path": hit["path"], "at": hit["ts"], "title": hit.get("title")}
    return [entry("hit", **fields)]


def _session(session: StoredSession) -> list[ExportEntry]:
    fields = {name: session[name] for name in ("site", "seconds", "hits", "entry", "exit")}
    return [entry("session", started_at=session["started"], **fields)]
