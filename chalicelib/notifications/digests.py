"""Writing the due letters of notifications.

A letter covers the items of a span of time. Its first lease fixes the end of the span, and its id
is a hash of the person and that end. So a repeat after a crash has the same id, and Plaza sends the
letter at most once.
"""

import hashlib
from functools import partial
from itertools import takewhile

from chalicelib import deadlines, signing
from chalicelib.jobs.schedules import run_all
from chalicelib.limits import DIGESTS
from chalicelib.mail import letters
from chalicelib.mail.letters import Draft
from chalicelib.notifications import inbox, mailing, preferences
from chalicelib.notifications.inbox import InboxRow, Show
from chalicelib.notifications.letter import html_of, subject_of, text_of
from chalicelib.notifications.mail_links import stop_url
from chalicelib.notifications.mailing import MailSetting
from chalicelib.notifications.rows import INBOXES, ITEMS, UNREAD
from chalicelib.runtime import Runtime

# The most letters of a run, the work of one to two minutes; the next run continues.
MOST_AT_ONCE = 2_000
# The least time for a letter: with less left, the next run writes it.
_LEAST_SECONDS = 5.0


def send_due(runtime: Runtime, show: Show) -> int:
    """Write the due letters, and return their number; 0 while mail or its links are off.

    A failure stops no other letter: the first failure rises after the last letter. Another run
    tries the failed letter again once its lease is over. An outage of the database ends the run.
    """
    if not letters.may_link(runtime):
        return 0
    due = mailing.find_due(runtime, MOST_AT_ONCE)
    chosen = preferences.find_all(runtime, [row["_id"] for row in due]) if due else {}

    def write(row: MailSetting) -> bool:
        leased = _take_due(runtime, row, chosen.get(row["_id"], preferences.NONE))
        return leased is not None and send(runtime, show, leased)

    begun = takewhile(lambda _: deadlines.remaining() >= _LEAST_SECONDS, due)
    written = run_all((row["_id"], partial(write, row)) for row in begun)
    return sum(is_written for _, is_written in written)


def _take_due(
    runtime: Runtime, row: MailSetting, own: preferences.Preferences
) -> MailSetting | None:
    """Lease a due row; None: another run has it, or it changed meanwhile.

    In quiet hours, or above the limit of the mailbox, it postpones the letter and returns None.
    """
    if end := preferences.quiet_until(own, row["time_zone"], runtime.now()):
        mailing.postpone(runtime, row, end)
        return None
    if not letters.may_have(runtime, row["email"], limit=DIGESTS):
        mailing.postpone(runtime, row, runtime.now() + DIGESTS.every)
        return None
    return mailing.lease(runtime, row)


def send(runtime: Runtime, show: Show, leased: MailSetting) -> bool:
    """Queue the letter of a leased row, and end its span.

    Return False, without a letter, if the person sees no unread item of the span.
    """
    marks = INBOXES.of(runtime.database).find_one({"_id": leased["_id"]})
    since = max(leased["since"], marks["seen"]) if marks else leased["since"]
    own = preferences.of_row(marks)
    unread = {**UNREAD, **preferences.by_channel(own, "email")}
    span = {**unread, "risen": {"$gt": since, "$lte": leased["until"]}}
    shown = inbox.read_span(runtime, show, leased["_id"], span)
    if shown:
        letters.queue(runtime, _draft(runtime, leased, shown))
    later = {"user_id": leased["_id"], **unread, "risen": {"$gt": leased["until"]}}
    has_later = ITEMS.of(runtime.database).find_one(later, {"_id": 1}) is not None
    mailing.finish(runtime, leased, has_later=has_later)
    return bool(shown)


def _draft(runtime: Runtime, leased: MailSetting, shown: list[InboxRow]) -> Draft:
    url = stop_url(runtime, leased["_id"])
    return Draft(
        _letter_id(leased),
        "notifications",
        leased["email"],
        subject_of(leased, shown),
        text_of(leased, shown, url),
        leased["language"],
        html_of(leased, shown, url),
        url,
    )


def _letter_id(leased: MailSetting) -> str:
    """Return the id of a letter: a hash of its person and the end of its span."""
    named = f"notifications\0{leased['_id']}\0{leased['until'].isoformat()}"
    return signing.encode(hashlib.sha256(named.encode()).digest())
