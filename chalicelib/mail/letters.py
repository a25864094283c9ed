"""Queuing letters, and sending each at most once."""

import re
from dataclasses import dataclass
from datetime import timedelta

from pymongo import ReturnDocument

from chalicelib import limits
from chalicelib.database import Document, insert_missing
from chalicelib.errors import TooFast, Unavailable
from chalicelib.jobs import resending
from chalicelib.jobs.resending import lease_end
from chalicelib.limits import LETTERS as MAILBOX_LETTERS
from chalicelib.limits import Limit
from chalicelib.mail import events
from chalicelib.mail.addressing import address_keys
from chalicelib.mail.couriers import courier_of
from chalicelib.mail.errors import MailOff
from chalicelib.mail.messages import SendLetter
from chalicelib.mail.mime import PostedLetter
from chalicelib.mail.rows import KEPT, LETTERS, RESENDING, UNTIL_SENT, Letter, State
from chalicelib.observability import metrics
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime

# A letter that waits longer ends as `late`: its text may be out of date.
WORTH_SENDING = timedelta(hours=1)
# After this time a worker is certainly over: Lambda ends it after half a minute.
OUTLIVES_WORKER = timedelta(minutes=5)
_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_STOP_URL = re.compile(r"[!-;=?-~]{1,900}")
MAX_TEXT_CHARACTERS = 100_000
MAX_HTML_CHARACTERS = 500_000


@dataclass(frozen=True, repr=False)
class Draft:
    """A letter to queue.

    - `id`: 1 to 100 characters of base64url, the same for every repeat of its cause.
    - `kind`: what it is about, for logs.
    - `to`: an address in `addressing.ascii_form`.
    - `language`: a tag of BCP 47.
    - `html`: the letter once more as HTML; "": as text alone.
    - `stop_url`: the address that turns such letters off by one POST (RFC 8058); "": none.
    """

    id: str
    kind: str
    to: str
    subject: str
    text: str
    language: str
    html: str = ""
    stop_url: str = ""

    def __post_init__(self) -> None:
        """Check the form; raises ValueError, without quoting the letter."""
        heads = (self.kind, self.to, self.subject, self.language)
        if not self.to.isascii() or any(_CONTROLS.search(each) for each in heads):
            raise ValueError("a letter's heads are lines, and its address is ASCII")
        if self.stop_url and not _STOP_URL.fullmatch(self.stop_url):
            raise ValueError("a letter's address to turn letters off is a short address in ASCII")
        is_long = len(self.text) > MAX_TEXT_CHARACTERS or len(self.html) > MAX_HTML_CHARACTERS
        if is_long or not _ID.fullmatch(self.id):
            raise ValueError("a letter's id or its text is too long, or of another form")


def is_on(runtime: Runtime) -> bool:
    """Return whether the deployment sends letters."""
    return courier_of(runtime.settings) is not None


def may_link(runtime: Runtime) -> bool:
    """Return whether the deployment sends letters with links to itself."""
    # Letters in a folder are read on this machine, so their links need no public URL.
    return is_on(runtime) and bool(runtime.settings.public_url or runtime.settings.mail_folder)


def refuses_letters(runtime: Runtime, address: str) -> bool:
    """Return whether an address takes no letters; only its reader may know."""
    return not events.takes_mail(runtime, address_keys(address, runtime.settings.signing_keys))


def may_have(
    runtime: Runtime, address: str, withheld_at: str = "", *, limit: Limit = MAILBOX_LETTERS
) -> bool:
    """Count a letter to a mailbox against a limit; return False if the limit allows no more now.

    Addresses that differ only after a plus lead to one mailbox. `withheld_at`: the site that
    withholds the letter, which counts for this site alone: strangers must not use up a mailbox's
    limit with letters that it never gets.
    """
    local, _, domain = address.rpartition("@")
    mailbox = f"{local.partition('+')[0] or local}@{domain}"
    key = address_keys(mailbox, runtime.settings.signing_keys)[0]
    try:
        limits.take_for(runtime, limit, f"{key} {withheld_at}".rstrip())
    except TooFast:
        return False
    return True


def queue(runtime: Runtime, draft: Draft, *, is_withheld: bool = False) -> None:
    """Store a letter and send its message; a letter with the same id stays as it is.

    `is_withheld`: no worker sends the letter. The worker, not this call, checks whether the address
    takes mail: a call does the same for every address, so its time reveals nothing. Raises
    MailOff, and Misconfigured without signing keys.
    """
    if not is_on(runtime):
        raise MailOff
    now = runtime.now()
    letter: Letter = {
        "_id": draft.id,
        "kind": draft.kind,
        "state": "unwanted" if is_withheld else "waiting",
        "address_keys": address_keys(draft.to, runtime.settings.signing_keys),
        "queued": now,
        "expires": now + KEPT,
    }
    if not is_withheld:
        letter["to"], letter["subject"], letter["text"] = draft.to, draft.subject, draft.text
        letter["language"], letter["due"] = draft.language, lease_end(runtime)
        if draft.html:
            letter["html"] = draft.html
        if draft.stop_url:
            letter["stop_url"] = draft.stop_url
    insert_missing(LETTERS.of(runtime.database), [letter])
    # If it is lost, the schedule sends another.
    runtime.queues.send(SendLetter(letter=draft.id))


def send(runtime: Runtime, letter_id: str) -> None:
    """Send a waiting letter, or end it as `unwanted` if its address takes no mail.

    Without a courier, or if no letter with this id waits, do nothing. Raises Unavailable while the
    provider takes no letters. The letter then still waits, and also if the database fails before
    the claim.
    """
    courier = courier_of(runtime.settings)
    if courier is None:
        return
    waits = {"_id": letter_id, "state": "waiting"}
    found = LETTERS.of(runtime.database).find_one(waits, {"address_keys": 1})
    if found is None:
        return
    # Before the claim: if the database fails here, it might also fail to undo a claim.
    is_wanted = events.takes_mail(runtime, found["address_keys"])
    letter = _claim(runtime, letter_id)
    if letter is None:
        return
    try:
        state: State = courier.carry(_compose(letter)) if is_wanted else "unwanted"
    except Unavailable:
        rows, due = LETTERS.of(runtime.database), lease_end(runtime)
        waiting: Document = {"$set": {"state": "waiting", "due": due}, "$unset": {"claimed": ""}}
        rows.update_one({"_id": letter["_id"], "state": "sending"}, waiting)
        raise
    _end(runtime, letter, state)


def _compose(letter: Letter) -> PostedLetter:
    return PostedLetter(
        letter["_id"],
        letter["to"],
        letter["subject"],
        letter["text"],
        letter["language"],
        letter["address_keys"][0],
        letter.get("html", ""),
        letter.get("stop_url", ""),
    )


def _claim(runtime: Runtime, letter_id: str) -> Letter | None:
    """Mark a waiting letter as `sending`, and return it; None: it does not wait, or for too long.

    A letter that is `sending` waits again only if its worker knows that SES has not accepted it.
    """
    now = runtime.now()
    claimed = {"$set": {"state": "sending", "claimed": now}, "$unset": {"due": ""}}
    # After a pause of the schedules, workers may be faster than the end of late letters.
    waits = {"_id": letter_id, "state": "waiting", "queued": {"$gt": now - WORTH_SENDING}}
    return LETTERS.of(runtime.database).find_one_and_update(
        waits, claimed, return_document=ReturnDocument.AFTER
    )


def _end(runtime: Runtime, letter: Letter, state: State) -> None:
    """Store a letter's final state, and delete its address and text."""
    of_worker = {"_id": letter["_id"], "state": "sending"}
    LETTERS.of(runtime.database).update_one(of_worker, _end_update(state))
    fields = {"kind": letter["kind"], "outcome": state, **_counts(state)}
    log.info("letter", extra={"fields": fields, "metrics": metrics.LETTERS})


def _counts(state: State) -> dict[str, int]:
    return {
        "letters_sent": int(state == "sent"),
        "letters_refused": int(state in {"rejected", "unwanted"}),
        "letters_given_up": int(state in {"unknown", "late"}),
    }


def _end_update(state: State) -> Document:
    return {"$set": {"state": state}, "$unset": dict.fromkeys(UNTIL_SENT, "")}


def tend(runtime: Runtime) -> dict[str, int]:
    """Send messages again for letters that wait, and end overdue letters.

    Return the number of letters that are `unknown` now, since their worker stopped while sending,
    and the number of letters that are `late` now.
    """
    now, found = runtime.now(), LETTERS.of(runtime.database)
    left = {"state": "sending", "claimed": {"$lte": now - OUTLIVES_WORKER}}
    late = {"state": "waiting", "due": {"$exists": True}, "queued": {"$lte": now - WORTH_SENDING}}
    ended: dict[State, int] = {
        "unknown": found.update_many(left, _end_update("unknown")).modified_count,
        "late": found.update_many(late, _end_update("late")).modified_count,
    }
    for state, letters in ended.items():
        if letters:
            counts = {name: number * letters for name, number in _counts(state).items()}
            fields = {"outcome": state, **counts}
            log.error("letters", extra={"fields": fields, "metrics": metrics.LETTERS})
    resending.sweep(
        runtime, found, RESENDING, lambda rows: (SendLetter(letter=row["_id"]) for row in rows)
    )
    return {"letters_unknown": ended["unknown"], "letters_late": ended["late"]}
