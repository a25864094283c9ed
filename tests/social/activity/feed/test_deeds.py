"""What somebody did of a type: what they rated, whoever reported it."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.social.activity.actions import types
from tests.social.activity.support import bulk
from tests.social.activity.support.office import APPLIED, Office
from tests.social.activity.support.reading import ids
from tests.support.clock import START
from tests.support.http_client import Reply


def done(office: Office, reader: str, user: str, query: str = "?type=application_rating") -> Reply:
    return office.client.as_(reader).get(f"/users/{user}/actions{query}")


def rated(rater: str) -> dict[str, Any]:
    return {**APPLIED, "type": "application_rating", "rater_id": rater, "rating_score": 4.5}


def test_what_somebody_rated_is_theirs_whoever_reported_it(office: Office) -> None:
    office.settle("bob")
    reported = office.tell("ann", descriptor=rated("bob"))
    office.clock.advance(seconds=1)
    own = office.act("bob", descriptor=rated("bob"))
    office.tell("bob", descriptor=rated("ann"))
    office.act("bob", descriptor=APPLIED)

    assert ids(done(office, "ann", "bob")) == ids(done(office, "bob", "me")) == [own, reported]
    first = done(office, "ann", "bob", "?type=application_rating&limit=1").json
    rest = f"?type=application_rating&limit=1&cursor={first['next']}"
    assert ids(done(office, "ann", "bob", rest)) == [reported]
    assert done(office, "bob", "bob", rest).code == "invalid_cursor"
    other = rest.replace("application_rating", "new_applicant")
    assert done(office, "ann", "bob", other).code == "invalid_cursor"


def test_what_names_no_user_was_done_by_its_actor(office: Office) -> None:
    action = office.act("ann", descriptor=APPLIED)

    assert ids(done(office, "bob", "ann", "?type=new_applicant")) == [action]
    assert ids(done(office, "bob", "bob", "?type=new_applicant")) == []


def test_only_what_the_reader_may_see_is_listed(office: Office) -> None:
    office.settle("bob", "dan")
    told = {"audience": ["dan"], "descriptor": rated("bob")}
    team = office.tell("ann", descriptor=rated("bob"))
    restricted = office.tell("ann", "restricted", **told)
    hidden = office.tell("ann", descriptor=rated("bob"))
    office.hide("ann", hidden)

    assert ids(done(office, "bob", "bob")) == [team]
    assert ids(done(office, "dan", "bob")) == [restricted]
    office.client.as_("dan").put("/users/me/blocked/ann")
    assert ids(done(office, "dan", "bob")) == []


def test_an_id_that_also_names_a_thing_lists_no_deed_of_it(office: Office) -> None:
    about = {"position_id": "bob", "position_name": "Baker"}
    office.tell("ann", descriptor={**rated("ann"), **about})

    assert ids(done(office, "ann", "bob")) == []


@pytest.mark.parametrize("query", ["", "?type=", "?type=$where", "?type=interview", "?type=user"])
def test_a_type_that_there_is_not_is_refused(office: Office, query: str) -> None:
    assert done(office, "ann", "bob", query).code == "invalid_request"


def test_a_page_examines_what_it_answers(office: Office) -> None:
    rows = [
        bulk.action(office.runtime, f"a{n:04}", START - timedelta(seconds=n)) for n in range(600)
    ]
    for number, row in enumerate(rows):
        rater = "bob" if number % 3 == 0 else "ann"
        row |= {"descriptor": rated(rater) if number % 2 else APPLIED, "mentions": ["ann", "bob"]}
    database = office.runtime.database
    database["feed.action"].insert_many(rows)
    where = {"mentions": "bob", "descriptor.type": "application_rating"}
    where["$and"] = [{"$or": types.by_person("application_rating", "bob")}]  # type: ignore[assignment]
    found = database["feed.action"].find(where).sort([("conducted", -1), ("_id", -1)]).limit(20)

    stats = found.explain()["executionStats"]

    assert stats["nReturned"] == 20
    assert stats["totalKeysExamined"] <= 100
    assert "SORT" not in str(found.explain()["queryPlanner"]["winningPlan"])
