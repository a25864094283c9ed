"""The past of a guest becomes an account's: comments, votes, reports, blocks and standing."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.comments.entries.kind import KIND
from chalicelib.comments.joining import carrying
from chalicelib.comments.people import changing
from chalicelib.comments.people.rows import PEOPLE
from chalicelib.comments.stores import store_of
from chalicelib.comments.writing import mentioning
from chalicelib.jobs import outbox
from chalicelib.marks.verification import verify
from chalicelib.notifications import mailing, preferences
from chalicelib.runtime import Runtime
from chalicelib.social.messages import JOB
from tests.comments.support.crashes import Crash, crash
from tests.comments.support.guests import COMMENTS, NODE, SITE, GuestSite
from tests.comments.support.joining import (
    ANN,
    account,
    authors,
    id_of,
    join,
    person,
    posted,
    vote,
    votes_of,
)
from tests.support.people import remaining
from tests.support.workers import Workers


@pytest.fixture
def talk(site: GuestSite) -> GuestSite:
    """The site, whose people vote."""
    site.decide(guests="name", votes="up_down", reactions=[{"key": "heart", "emoji": "\u2764"}])
    return site


def guest(site: GuestSite, name: str = "Passenger") -> Any:
    return site.guest(name, email=None, return_to=None)


def run_again(site: GuestSite, workers: Workers) -> None:
    """Let the job run once more, when no call from before the join can be running."""
    workers.drain()
    site.clock.advance(minutes=21)
    outbox.sweep(site.runtime, JOB)
    workers.drain()


def test_a_guests_comments_become_the_accounts_in_each_store(
    laid_out: GuestSite, workers: Workers
) -> None:
    site = laid_out
    site.decide(guests="name")
    bob, writer = site.client.as_("bob", name="Bob"), guest(site)
    former = id_of(writer)
    first = posted(writer)
    posted(bob, "Is it?")
    posted(writer, "It is")
    version = site.client.get(COMMENTS).headers["ETag"]
    ann = account(site)

    answered = join(ann, writer)

    assert answered.status == 202
    assert answered.json == {"people": [{"id": former, "name": "Passenger"}]}
    assert authors(site) == [(ANN, "Ann"), ("bob", "Bob"), (ANN, "Ann")]
    assert site.client.get(COMMENTS).headers["ETag"] != version
    assert ann.patch(f"{COMMENTS}/{first}", text="A *fine* evening").status == 200
    found = ann.get(f"{SITE}/people/{ANN}/comments").json["comments"]
    assert len(found) == 2
    run_again(site, workers)
    # The document that says whose they are stays.
    assert remaining(site.runtime, former) == 1
    assert site.admin.get(f"{SITE}/people/{ANN}").json["counts"]["visible"] == 2
    assert person(site, former)["joined"] == ANN


def test_readers_see_the_new_author_after_a_crash_between_comments_and_their_page(
    laid_out: GuestSite, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = laid_out
    site.decide(guests="name")
    writer = guest(site)
    posted(writer)
    kept = site.client.get(COMMENTS).headers["ETag"]
    ann = account(site)
    carry_embedded = carrying._carry_embedded

    def carry_and_crash(*given: Any) -> None:
        carry_embedded(*given)
        crash()

    with monkeypatch.context() as patched:
        patched.setattr(carrying, "_carry_embedded", carry_and_crash)
        with pytest.raises(Crash):
            join(ann, writer)
    run_again(site, workers)

    found = site.client.request("GET", COMMENTS, headers={"If-None-Match": kept})
    assert found.status == 200
    assert authors(site) == [(ANN, "Ann")]


def test_a_repeated_join_changes_nothing(talk: GuestSite, workers: Workers) -> None:
    writer, ann = guest(talk), account(talk)
    posted(writer)
    join(ann, writer)
    before = person(talk, ANN)

    assert join(ann, writer).status == 202

    assert person(talk, ANN) == before
    assert workers.drain() == 1


def test_a_guest_who_has_written_nothing_is_joined(talk: GuestSite) -> None:
    writer = guest(talk)
    former = id_of(writer)

    assert join(account(talk), writer).status == 202

    assert person(talk, former)["joined"] == ANN
    assert writer.post(COMMENTS, text="A fine evening").status == 401


def test_an_account_of_the_deployment_joins_too(talk: GuestSite) -> None:
    writer = guest(talk)
    posted(writer)

    assert join(talk.client.as_("ann", name="Ann"), writer).status == 202

    assert authors(talk) == [("ann", "Ann")]


def test_votes_of_both_on_one_comment_count_once_as_the_account_voted(talk: GuestSite) -> None:
    writer, ann = guest(talk), account(talk)
    bobs = talk.client.as_("bob", name="Bob")
    both, alone = posted(bobs, "One"), posted(bobs, "Two")
    vote(writer, both, 1)
    vote(ann, both, -1)
    vote(writer, alone, 1)
    assert votes_of(talk, both) == {"up": 1, "down": 1}
    for client in (writer, ann):
        assert client.put(f"{COMMENTS}/{both}/reactions/heart").status == 200

    join(ann, writer)

    assert votes_of(talk, both) == {"up": 0, "down": 1}
    assert votes_of(talk, alone) == {"up": 1, "down": 0}
    found = ann.get(f"{NODE}/marks?ids={both},{alone}").json["comments"]
    assert [found[each]["mine"]["vote"] for each in (both, alone)] == [-1, 1]
    assert verify(talk.runtime.database, KIND).wrong == 0


def test_nobody_votes_for_what_is_their_own_by_a_join(talk: GuestSite) -> None:
    writer, ann = guest(talk), account(talk)
    of_guest, of_ann = posted(writer), posted(ann, "So it is")
    vote(writer, of_ann)
    vote(ann, of_guest)
    assert ann.put(f"{COMMENTS}/{of_guest}/flag", reason="other").status == 204

    join(ann, writer)

    none = {"up": 0, "down": 0}
    assert [votes_of(talk, each) for each in (of_guest, of_ann)] == [none, none]
    assert talk.admin.get("/moderation/comments?queue=flagged").json["comments"] == []
    assert verify(talk.runtime.database, KIND).wrong == 0


def test_who_blocked_the_guest_reads_nothing_of_the_account(talk: GuestSite) -> None:
    writer, ann = guest(talk), account(talk)
    posted(writer)
    readers = [talk.client.as_("bob", name="Bob"), guest(talk, "Reader")]
    for each in readers:
        posted(each, "Hello")
        assert each.put(f"{SITE}/blocked/{id_of(writer)}").status == 204
    writer.put(f"{SITE}/blocked/bob")

    join(ann, writer)

    talk.clock.advance(seconds=6)
    for each in readers:
        shown = [comment["author"]["id"] for comment in each.get(COMMENTS).json["comments"]]
        assert ANN not in shown
    assert ann.get(f"{SITE}/blocked").json == {"people": [{"id": "bob"}]}


def test_mentions_of_the_guest_lead_to_the_account(talk: GuestSite) -> None:
    writer, ann = guest(talk), account(talk)
    posted(writer)
    bob = talk.client.as_("bob", name="Bob")
    said = posted(bob, "Well seen, @Passenger", mentions=[id_of(writer)])

    join(ann, writer)

    comment = talk.client.get(f"{COMMENTS}/{said}").json
    assert f'data-person="{ANN}"' in comment["html"]
    assert comment["text"] == "Well seen, @Passenger"


def test_what_the_guest_has_read_is_not_told_to_the_account(
    talk: GuestSite, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker hears of each comment of the guest while the join is under way."""
    talk.decide(guests="name", notifications=True)
    writer, ann, bob = guest(talk), account(talk), talk.client.as_("bob", name="Bob")
    posted(writer)
    posted(bob, "Well seen, @Passenger", mentions=[id_of(writer)])
    workers.drain()
    (told,) = writer.get("/notifications").json["notifications"]
    assert (told["kind"], told["read"]) == ("comment.mention", False)
    assert writer.put("/notifications/read", ids=[told["id"]]).status == 204
    give = mentioning.give

    def give_and_tell(*arguments: Any) -> None:
        give(*arguments)
        workers.drain()

    monkeypatch.setattr(mentioning, "give", give_and_tell)
    join(ann, writer)
    workers.drain()

    (kept,) = ann.get("/notifications").json["notifications"]
    assert (kept["kind"], kept["read"]) == ("comment.mention", True)


@pytest.mark.parametrize("words", ["@Passenger is @Ann", "@Ann is @Passenger"])
def test_a_mention_of_both_is_one_of_the_account(
    talk: GuestSite, workers: Workers, words: str
) -> None:
    writer, ann = guest(talk), account(talk)
    posted(writer)
    posted(ann, "A fine evening, too")
    bob = talk.client.as_("bob", name="Bob")
    said = posted(bob, words, mentions=[id_of(writer), ANN])

    join(ann, writer)

    comment = talk.client.get(f"{COMMENTS}/{said}").json
    assert comment["mentions"] == [{"id": ANN, "name": "Ann"}]
    assert comment["text"] == "@Ann is @Ann"
    assert comment["html"].count(f'data-person="{ANN}"') == 2
    ann.delete("/users/me")
    run_again(talk, workers)
    erased = talk.client.get(f"{COMMENTS}/{said}").json
    assert "Ann" not in erased["html"]
    assert ("Passenger" in erased["html"], ANN in str(erased)) == (False, False)


LATER = "2026-12-01T00:00:00Z"
FAR = "2027-12-01T00:00:00Z"
SUSPENDED = {"status": "suspended", "until": LATER}


@pytest.mark.parametrize(
    ("of_guest", "of_account", "after"),
    [
        ({"status": "banned"}, {"status": "ok"}, "banned"),
        ({"status": "shadowed"}, {"status": "ok"}, "shadowed"),
        (SUSPENDED, {"status": "ok"}, "suspended"),
        ({"status": "ok"}, {"status": "banned"}, "banned"),
        # A suspension ends, and would end the shadow with it.
        ({"status": "shadowed"}, SUSPENDED, "shadowed"),
        ({"status": "suspended"}, {"status": "shadowed"}, "suspended"),
        (SUSPENDED, {"status": "banned"}, "banned"),
    ],
)
def test_the_harsher_standing_stays(
    talk: GuestSite, of_guest: dict[str, Any], of_account: dict[str, Any], after: str
) -> None:
    writer, ann = guest(talk), account(talk)
    posted(writer)
    former = id_of(writer)
    for user, said in ((former, of_guest), (ANN, of_account)):
        assert talk.admin.patch(f"{SITE}/people/{user}", **said).status == 200, said

    join(ann, writer)

    assert talk.admin.get(f"{SITE}/people/{ANN}").json["status"] == after


def test_of_two_suspensions_the_longer_stays(talk: GuestSite) -> None:
    writer, ann = guest(talk), account(talk)
    former = id_of(writer)
    for user, until in ((former, FAR), (ANN, LATER)):
        said = {"status": "suspended", "until": until, "note": f"by {until}"}
        assert talk.admin.patch(f"{SITE}/people/{user}", **said).status == 200

    join(ann, writer)

    found = talk.admin.get(f"{SITE}/people/{ANN}").json
    assert (found["until"], found["note"]) == (FAR, f"by {LATER}\nby {FAR}")


STEPS = (
    "_carry_comments",
    "_carry_embedded",
    "_carry_rows",
    "mentioning.give",
    "giving.give",
    "_withdraw_own_marks",
    "_carry_blocks",
    "counting.recount",
)


@pytest.mark.parametrize("step", STEPS)
def test_a_crash_at_any_step_is_made_good_by_the_job(
    talk: GuestSite, workers: Workers, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    writer, ann, bob = guest(talk), account(talk), talk.client.as_("bob", name="Bob")
    former = id_of(writer)
    posted(writer)
    liked = posted(bob, "Well seen, @Passenger", mentions=[former])
    vote(writer, liked)
    bob.put(f"{SITE}/blocked/{former}")
    with monkeypatch.context() as patched:
        patched.setattr(f"{carrying.__name__}.{step}", crash)
        with pytest.raises(Crash):
            join(ann, writer)

    workers.drain()

    assert authors(talk)[0] == (ANN, "Ann")
    assert votes_of(talk, liked) == {"up": 1, "down": 0}
    assert remaining(talk.runtime, former) == 1
    assert talk.admin.get(f"{SITE}/people/{ANN}").json["counts"]["visible"] == 1
    assert verify(talk.runtime.database, KIND).wrong == 0


def test_a_long_past_is_carried_by_the_worker(
    talk: GuestSite, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(carrying, "_MOST_IN_A_CALL", 1)
    writer = guest(talk)
    former = id_of(writer)
    for text in ("One", "Two"):
        posted(writer, text)

    join(account(talk), writer)
    assert {each for each, _ in authors(talk)} == {former}
    workers.drain()

    assert {each for each, _ in authors(talk)} == {ANN}


def test_many_marks_are_carried_by_the_worker(
    talk: GuestSite, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(carrying, "_MOST_IN_A_CALL", 2)
    writer, ann, bob = guest(talk), account(talk), talk.client.as_("bob", name="Bob")
    posted(writer)
    liked = [posted(bob, text) for text in ("One", "Two", "Three")]
    for each in liked:
        vote(writer, each)

    def mine() -> list[int]:
        found = ann.get(f"{NODE}/marks?ids={','.join(liked)}").json["comments"]
        return [found[each]["mine"]["vote"] for each in liked]

    join(ann, writer)
    assert mine() == [0, 0, 0]
    workers.drain()

    assert mine() == [1, 1, 1]


def test_what_a_call_of_the_guest_stores_after_the_join_follows(
    talk: GuestSite, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A post that is admitted before the join, and stored after it."""
    writer, ann = guest(talk), account(talk)
    former = id_of(writer)
    posted(writer)
    joined: list[int] = []

    def joined_meanwhile(*arguments: Any) -> Any:
        if not joined:
            joined.append(join(ann, writer).status)
            workers.drain()
        return store_of(*arguments)

    monkeypatch.setattr("chalicelib.comments.writing.post.store_of", joined_meanwhile)
    posted(writer, "Late")
    assert (joined, former in dict(authors(talk))) == ([202], True)

    run_again(talk, workers)

    assert {each for each, _ in authors(talk)} == {ANN}


def test_who_erases_themselves_erases_the_past_as_well(
    talk: GuestSite, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, ann = guest(talk), account(talk)
    former = id_of(writer)
    posted(writer)
    # The join has not carried anything yet.
    monkeypatch.setattr(carrying, "_MOST_IN_A_CALL", 0)
    join(ann, writer)

    assert ann.delete("/users/me").status == 202
    run_again(talk, workers)

    assert authors(talk) == []
    assert [remaining(talk.runtime, each) for each in (former, ANN)] == [0, 0]


def test_an_export_names_the_guest_and_has_their_comments(talk: GuestSite) -> None:
    writer, ann = guest(talk), account(talk)
    former = id_of(writer)
    posted(writer)
    join(ann, writer)

    found = ann.get("/users/me/export?limit=200").json["entries"]

    kinds = {each["kind"]: each["data"] for each in found}
    assert kinds["comment"]["text"] == "A fine evening"
    assert (kinds["person_of_before"]["id"], kinds["person_of_before"]["site"]) == (former, "blog")


def test_others_may_take_the_name_of_a_joined_guest(site: GuestSite) -> None:
    writer = site.guest()
    site.press()
    assert site.begin(email="bob@mail.example").code == "name_taken"

    join(account(site), writer)

    assert site.begin(email="bob@mail.example").status == 201


def test_the_pace_of_a_guest_is_the_accounts(talk: GuestSite) -> None:
    writer, ann = guest(talk), account(talk)
    posted(writer)
    later = talk.clock.time + timedelta(hours=1)
    PEOPLE.of(talk.runtime.database).update_one(
        {"_id": f"blog/{id_of(writer)}"}, {"$set": {"tat": later}}
    )

    join(ann, writer)

    assert person(talk, ANN)["tat"] == later.replace(microsecond=later.microsecond // 1000 * 1000)


def test_a_ban_of_the_guest_after_the_join_is_one_of_the_account(talk: GuestSite) -> None:
    """A moderator had the guest's row open."""
    passenger, ann = guest(talk), account(talk)
    posted(passenger)
    assert join(ann, passenger).status == 202

    banned = talk.admin.patch(f"{SITE}/people/{id_of(passenger)}", status="banned")

    assert (banned.status, banned.json["id"]) == (200, ANN)
    assert ann.post(COMMENTS, text="And again").code == "banned"


def test_a_ban_beside_the_join_is_refused_for_the_moment(
    talk: GuestSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    passenger, ann = guest(talk), account(talk)
    posted(passenger)
    store = changing.store

    def store_after_the_join(*given: Any) -> Any:
        monkeypatch.setattr(changing, "store", store)
        assert join(ann, passenger).status == 202
        return store(*given)

    monkeypatch.setattr(changing, "store", store_after_the_join)
    path = f"{SITE}/people/{id_of(passenger)}"

    assert talk.admin.patch(path, status="banned").status == 503
    assert talk.admin.patch(path, status="banned").json["id"] == ANN


def test_a_stop_of_letters_beside_the_join_stops_the_accounts(
    talk: GuestSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime, passenger, ann = talk.runtime, guest(talk), account(talk)
    posted(passenger)
    daily = mailing.Rhythm("daily", 8, 1, "UTC", "en")
    mailing.choose(runtime, id_of(passenger), daily, "g@example.org", sure=True)
    find_seen = preferences.find_seen

    def find_after_the_stop(given: Runtime, user_id: str) -> Any:
        mailing.stop(runtime, id_of(passenger))
        return find_seen(given, user_id)

    monkeypatch.setattr(preferences, "find_seen", find_after_the_stop)
    mailing.give(runtime, id_of(passenger), id_of(ann), None)

    kept = mailing.find(runtime, id_of(ann))
    assert kept is not None
    assert kept["every"] == "off"
