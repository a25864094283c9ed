"""Comments of a guest wait until the link of a letter to them is confirmed."""

import re
from typing import Any

import pytest

from chalicelib.comments import nodes
from chalicelib.comments.people.links import CONFIRMATIONS
from chalicelib.comments.people.rows import PEOPLE
from chalicelib.comments.sign_in import confirming
from chalicelib.comments.stores import ask
from chalicelib.comments.stores.documents import COMMENTS as COMMENT_ROWS
from chalicelib.comments.writing import decisions, draft, releasing
from chalicelib.database import upsert
from chalicelib.mail.rows import LETTERS
from chalicelib.runtime import LONGEST_RUN, Runtime
from tests.comments.support.guests import COMMENTS, NODE, PAGE, SITE, GuestSite
from tests.support.signing_keys import rotate_keys
from tests.support.workers import Workers


class Crashed(Exception):
    """The process of a call has ended."""


def test_a_comment_waits_and_is_shown_to_all_once_its_letter_is_confirmed(
    laid_out: GuestSite, workers: Workers
) -> None:
    site = laid_out
    writer = site.guest()
    posted = writer.post(COMMENTS, text="A fine evening")
    assert (posted.status, posted.json["state"]) == (201, "pending")
    assert (site.shown(), site.queue()) == ([], [["unconfirmed"]])
    assert site.admin.get(NODE).json["counts"] == {"visible": 0, "pending": 1}

    pressed = site.press()

    assert (pressed.status, pressed.headers["Location"]) == (302, PAGE)
    workers.drain()
    assert (site.shown(), site.queue()) == (["A fine evening"], [])
    assert site.admin.get(NODE).json["counts"] == {"visible": 1, "pending": 0}
    assert b"A fine evening" in site.client.get(f"{COMMENTS}.atom").body
    found = site.client.get(f"{SITE}/search?q=evening").json["comments"]
    assert [each["id"] for each in found] == [posted.json["id"]]
    person = writer.get("/me").json["id"]
    counts = site.admin.get(f"{SITE}/people/{person}").json["counts"]
    assert (counts["visible"], counts["pending"]) == (1, 0)
    assert writer.post(COMMENTS, text="And a fine night").json["state"] == "visible"


def test_who_confirms_before_they_write_waits_for_nothing(site: GuestSite) -> None:
    writer = site.guest()
    site.press()

    assert writer.post(COMMENTS, text="A fine evening").json["state"] == "visible"


def test_a_letter_names_the_site_and_its_link_and_nothing_that_its_caller_chose(
    site: GuestSite,
) -> None:
    site.guest("Visit evil example", language="de")

    (letter,) = site.letters()
    assert letter["to"] == "ann@mail.example"
    assert (letter["subject"], letter["language"]) == ("Bestätige deine Adresse für blog", "de")
    assert "Visit" not in letter["text"]
    assert re.findall(r"https?://\S+", letter["text"]) == [
        f"https://plaza.example{SITE}/guests/confirmation?token={site.link()}"
    ]


def test_what_else_holds_a_comment_holds_it_on(site: GuestSite) -> None:
    site.decide(moderation="before")
    writer = site.guest()
    writer.post(COMMENTS, text="A fine evening")
    assert site.queue() == [["before", "unconfirmed"]]

    site.press()

    assert (site.shown(), site.queue()) == ([], [["before"]])


@pytest.mark.parametrize(("state", "shown"), [("hidden", []), ("visible", ["A fine evening"])])
def test_a_moderators_decision_stands(site: GuestSite, state: str, shown: list[str]) -> None:
    writer = site.guest()
    path = f"{COMMENTS}/{writer.post(COMMENTS, text='A fine evening').json['id']}"
    assert site.admin.post(f"{path}/state", state=state).status == 200

    site.press()

    assert site.shown() == shown


def test_spam_stays_spam(site: GuestSite) -> None:
    site.guest().post(COMMENTS, text="A fine evening", website="https://spam.example/")

    site.press()

    assert site.shown() == []
    assert site.admin.get("/moderation/comments?queue=spam").json["comments"][0]["reasons"]


def test_guests_of_before_wait_too_once_their_site_asks_for_an_address(site: GuestSite) -> None:
    site.decide(guests="name")
    writer = site.guest(email=None, return_to=None)
    visible = writer.post(COMMENTS, text="A fine evening").json
    assert visible["state"] == "visible"
    site.decide()

    assert writer.post(COMMENTS, text="Another").json["state"] == "pending"
    edited = writer.patch(f"{COMMENTS}/{visible['id']}", text="Not so fine")
    assert edited.json["state"] == "pending"


def test_a_guest_who_asks_again_stays_who_they_are_and_gets_another_letter(
    site: GuestSite,
) -> None:
    writer = site.guest()
    writer.post(COMMENTS, text="A fine evening")
    first = site.link()

    again = writer.post(f"{SITE}/guests", name="Pilot", email="bo@mail.example", return_to=PAGE)

    assert again.json["id"] == writer.get("/me").json["id"]
    assert site.letters()[-1]["to"] == "bo@mail.example"
    assert site.link() != first
    assert site.press().status == 302
    assert site.shown() == ["A fine evening"]


def test_a_site_asks_for_an_address_or_for_none(site: GuestSite) -> None:
    def refused(**said: Any) -> list[tuple[str, str]]:
        reply = site.begin(**said)
        assert reply.code == "invalid_request"
        return [(each["field"], each["code"]) for each in reply.json["errors"]]

    both = ["email", "return_to"]
    assert refused(email=None, return_to=None) == [(each, "missing") for each in both]
    assert refused(return_to=None) == [("return_to", "missing")]
    site.decide(guests="name")
    assert refused() == [(each, "unexpected") for each in both]
    assert site.begin(email=None, return_to=None).status == 201
    assert site.letters() == []


@pytest.mark.parametrize("without", [{}, {"public_url": "", "mail_from": "p@plaza.example"}])
def test_without_mail_or_an_address_of_its_links_there_are_no_such_guests(
    site: GuestSite, without: dict[str, str]
) -> None:
    for name, value in {"mail_folder": "", **without}.items():
        object.__setattr__(site.runtime.settings, name, value)

    assert (site.begin().status, site.begin().code) == (409, "mail_off")


def test_on_one_machine_a_link_needs_no_address(site: GuestSite) -> None:
    object.__setattr__(site.runtime.settings, "public_url", "")

    site.guest()

    assert f"\n{SITE}/guests/confirmation?token=" in site.letters()[0]["text"]


def test_who_confirms_while_they_post_waits_for_nothing(
    site: GuestSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, place = site.guest(), draft.place

    def place_and_confirm(*given: Any) -> Any:
        placed = place(*given)
        site.press()
        return placed

    monkeypatch.setattr(draft, "place", place_and_confirm)

    posted = writer.post(COMMENTS, text="A fine evening")

    assert posted.json["state"] == "visible"
    assert site.shown() == ["A fine evening"]


def tend(site: GuestSite) -> int:
    """Let the schedule do what is due; return how many comments it has released."""
    site.clock.advance(seconds=LONGEST_RUN.total_seconds() + 1)
    return confirming.sweep(site.runtime)


def test_a_crash_before_the_release_is_mended(
    site: GuestSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.guest().post(COMMENTS, text="A fine evening")
    with monkeypatch.context() as patch:
        patch.setattr(releasing, "release", _crash)
        with pytest.raises(Crashed):
            confirming.confirm(site.runtime, "blog", site.link())
    assert confirming.sweep(site.runtime) == 0

    assert tend(site) == 1

    assert site.shown() == ["A fine evening"]
    assert tend(site) == 0
    assert PEOPLE.of(site.runtime.database).count_documents({"release": {"$exists": True}}) == 0


def test_more_comments_than_a_release_takes_are_released_by_later_runs(
    site: GuestSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(releasing, "_AT_ONCE", 1)
    writer = site.guest()
    for text in ("First", "Second", "Third"):
        assert writer.post(COMMENTS, text=text).json["state"] == "pending"

    assert site.press().status == 302

    assert site.shown() == ["First"]
    assert [tend(site) for _ in range(3)] == [1, 1, 0]
    assert site.shown() == ["First", "Second", "Third"]


def test_a_comment_that_others_keep_changing_is_released_by_a_later_run(
    site: GuestSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.guest().post(COMMENTS, text="A fine evening")
    with monkeypatch.context() as patch:
        patch.setattr(decisions, "conclude", lambda *_: False)
        assert site.press().status == 302
        assert tend(site) == 0

    assert tend(site) == 1

    assert site.shown() == ["A fine evening"]


def test_a_crash_before_the_link_is_used_up_leaves_it_working(
    site: GuestSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.guest().post(COMMENTS, text="A fine evening")
    with monkeypatch.context() as patch:
        patch.setattr(confirming, "_note", _crash)
        with pytest.raises(Crashed):
            confirming.confirm(site.runtime, "blog", site.link())

    assert site.press().status == 302
    assert site.shown() == ["A fine evening"]


def _crash(*_given: Any) -> int:
    raise Crashed


def test_a_conclusion_from_other_reasons_changes_nothing(site: GuestSite, runtime: Runtime) -> None:
    """The answer of a spam check and a confirmation may come at once."""
    made = site.guest().post(COMMENTS, text="A fine evening").json["id"]
    node = nodes.find(runtime.database, "blog:moon")
    found = ask(runtime, node, lambda store, current: store.get(current, made))
    assert found is not None
    stale: Any = {**found, "reasons": ["checking", "unconfirmed"]}

    assert not decisions.conclude(runtime, node, stale, {"reasons": ["unconfirmed"]})


def test_a_shadowed_guest_alone_sees_what_they_have_confirmed(site: GuestSite) -> None:
    writer = site.guest()
    person = writer.get("/me").json["id"]
    before = writer.post(COMMENTS, text="Before").json["id"]
    site.admin.patch(f"{SITE}/people/{person}", status="shadowed")
    after = writer.post(COMMENTS, text="After").json["id"]

    site.press()

    own = {each["id"]: each["state"] for each in writer.get(COMMENTS).json["comments"]}
    assert own == {before: "visible", after: "visible"}
    assert site.shown() == []


def test_another_name_ends_no_ban(site: GuestSite) -> None:
    first = site.guest().get("/me").json["id"]
    site.press()
    site.admin.patch(f"{SITE}/people/{first}", status="banned")
    second = site.guest("Pilot", email="Ann@mail.example")
    second.post(COMMENTS, text="A fine evening")

    assert site.press().status == 302

    assert site.shown() == []
    assert second.post(COMMENTS, text="Another").code == "banned"


SUSPENDED = {"status": "suspended", "until": "2026-03-09T00:00:00Z"}


def test_comments_that_wait_for_a_moderator_hold_up_no_release(
    site: GuestSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(releasing, "_AT_ONCE", 2)
    writer = site.guest()
    person = writer.get("/me").json["id"]
    site.admin.patch(f"{SITE}/people/{person}", status="shadowed")
    texts = ["One", "Two", "Three", "Four", "Five", "Six"]
    assert {writer.post(COMMENTS, text=each).json["state"] for each in texts} == {"pending"}
    # All but the last wait for something else by now.
    comments = COMMENT_ROWS.of(site.runtime.database)
    comments.update_many({"text": {"$in": texts[:5]}}, {"$set": {"reasons": ["before"]}})

    assert site.press().status == 302
    for _ in range(3):
        tend(site)

    mine = writer.get(COMMENTS).json["comments"]
    assert [each["text"] for each in mine if each["state"] == "visible"] == ["Six"]
    assert PEOPLE.of(site.runtime.database).count_documents({"release": {"$exists": True}}) == 0


SHADOWED, BANNED = {"status": "shadowed"}, {"status": "banned"}


@pytest.mark.parametrize("former", [SUSPENDED, SHADOWED], ids=lambda each: str(each["status"]))
def test_a_milder_standing_of_before_ends_no_ban(site: GuestSite, former: dict[str, str]) -> None:
    first = site.guest().get("/me").json["id"]
    site.press()
    site.admin.patch(f"{SITE}/people/{first}", **former)
    second = site.guest("Pilot")
    site.admin.patch(f"{SITE}/people/{second.get('/me').json['id']}", **BANNED)

    assert site.press().status == 302

    assert second.post(COMMENTS, text="Another").code == "banned"


@pytest.mark.parametrize("order", [(SUSPENDED, BANNED), (BANNED, SUSPENDED)], ids=["up", "down"])
def test_of_many_guests_of_an_address_the_harshest_standing_counts(
    site: GuestSite, order: tuple[dict[str, str], dict[str, str]]
) -> None:
    guests = []
    for name in ("Passenger", "Pilot"):
        guests.append(site.guest(name).get("/me").json["id"])
        site.press()
    for guest, standing in zip(guests, order, strict=True):
        site.admin.patch(f"{SITE}/people/{guest}", **standing)
    third = site.guest("Purser")

    assert site.press().status == 302

    assert third.post(COMMENTS, text="Another").code == "banned"


def test_a_ban_of_the_moment_of_a_confirmation_stays(
    site: GuestSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = site.guest().get("/me").json["id"]
    site.press()
    site.admin.patch(f"{SITE}/people/{first}", **SUSPENDED)
    second = site.guest("Pilot")
    person = second.get("/me").json["id"]
    second.post(COMMENTS, text="A fine evening")

    def ban_first(*given: Any) -> None:
        site.admin.patch(f"{SITE}/people/{person}", **BANNED)
        upsert(*given)

    monkeypatch.setattr(confirming, "upsert", ban_first)
    assert site.press().status == 302

    assert second.post(COMMENTS, text="Another").code == "banned"


def test_a_new_signing_key_ends_no_ban(site: GuestSite) -> None:
    first = site.guest().get("/me").json["id"]
    site.press()
    site.admin.patch(f"{SITE}/people/{first}", status="banned")
    rotate_keys(site.runtime)
    second = site.guest("Pilot")
    second.post(COMMENTS, text="A fine evening")

    assert site.press().status == 302

    assert site.shown() == []
    assert second.post(COMMENTS, text="Another").code == "banned"


def test_a_link_of_an_earlier_release_confirms_an_address(site: GuestSite) -> None:
    first = site.guest().get("/me").json["id"]
    site.press()
    site.admin.patch(f"{SITE}/people/{first}", status="banned")
    second = site.guest("Pilot")
    CONFIRMATIONS.of(site.runtime.database).update_many({}, {"$unset": {"email_keys": ""}})

    assert site.press().status == 302
    assert second.post(COMMENTS, text="A fine evening").code == "banned"


@pytest.mark.parametrize("name", ["Passenger", "PASSENGER", "P\N{CYRILLIC SMALL LETTER A}ssenger"])
def test_a_confirmed_guest_has_their_name_alone(site: GuestSite, name: str) -> None:
    writer, token = site.guest(), site.link()
    assert site.begin(name).status == 201
    site.press(token)
    # Each post writes the key of the name.
    assert writer.post(COMMENTS, text="A fine evening").status == 201

    assert site.begin(name, email="bo@mail.example").code == "name_taken"


def test_the_person_has_a_hash_and_no_address(site: GuestSite) -> None:
    site.guest()
    site.press()

    (person,) = PEOPLE.of(site.runtime.database).find()
    assert re.fullmatch(r"[\w-]{43}", person["email_key"])
    assert "mail.example" not in str(person)


def test_an_erasure_takes_the_address_and_its_links(site: GuestSite, workers: Workers) -> None:
    writer = site.guest()
    writer.post(COMMENTS, text="A fine evening")
    used = site.link()
    assert writer.post(f"{SITE}/guests", name="P", email="a@b.example", return_to=PAGE).json["id"]
    unused = site.link()
    site.press(used)
    exported = writer.get("/users/me/export").json["entries"]
    kinds = {each["kind"]: each["data"] for each in exported}
    assert kinds["person_at_site"]["address_confirmed_at"]
    assert kinds["link_in_letter"]["return_to"] == PAGE

    assert writer.delete("/users/me").status == 202
    workers.drain()

    assert writer.get("/users/me/erasure").json["remaining"] == 0
    assert PEOPLE.of(site.runtime.database).count_documents({}) == 0
    assert site.press(unused).status == 404


def test_a_sent_letter_forgets_the_address(
    site: GuestSite, runtime: Runtime, workers: Workers
) -> None:
    site.guest()
    workers.drain()

    (letter,) = LETTERS.of(runtime.database).find()
    assert "to" not in letter
    assert "text" not in letter
