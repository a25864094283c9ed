"""Edits are checked again where an answer could change what becomes of the comment."""

from typing import Any

import pytest
from pydantic import SecretStr

from chalicelib.comments.people import changing
from chalicelib.comments.sites import settings as site_settings
from chalicelib.comments.sites.forms import CommentSettings
from chalicelib.comments.spam import checking
from chalicelib.comments.spam_check.services import Answer, Facts
from chalicelib.comments.writing import changes
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from tests.comments.support.checking import SITE_URL, Service, go_on, write
from tests.comments.support.discussion import LAYOUTS, Discussion
from tests.support.clock import Clock


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"akismet_key": SecretStr("a-key")})


@pytest.fixture
def discussion(runtime: Runtime) -> Discussion:
    site_settings.put(runtime, "default", CommentSettings(spam_check_url=SITE_URL))
    return Discussion.make(runtime, LAYOUTS[0])


def test_spam_stays_spam_whatever_it_is_edited_to(
    runtime: Runtime, discussion: Discussion, clock: Clock
) -> None:
    spam = write(runtime, discussion)
    go_on(runtime, clock, Service("spam"))
    service = Service("ham")

    assert discussion.edit(spam, "good-bye", by="ann")["state"] == "pending"
    go_on(runtime, clock, service)

    assert (discussion.stored()[spam]["state"], service.asked) == ("spam", [])


def test_an_edit_ends_no_hold_of_a_moderator(
    runtime: Runtime, discussion: Discussion, clock: Clock
) -> None:
    comment, service = write(runtime, discussion), Service("ham")
    go_on(runtime, clock, service)
    discussion.set_state(comment, "pending")

    discussion.edit(comment, "good-bye", by="ann")
    go_on(runtime, clock, service)

    assert discussion.stored()[comment]["state"] == "pending"


def test_an_edit_ends_no_hold_by_a_phrase(
    runtime: Runtime, discussion: Discussion, clock: Clock
) -> None:
    phrases = [{"phrase": "cheap", "action": "hold"}]
    asking = CommentSettings.model_validate({"spam_check_url": SITE_URL, "phrases": phrases})
    site_settings.put(runtime, "default", asking)
    clock.advance(seconds=6)
    comment, service = write(runtime, discussion, "cheap moons"), Service("ham")
    go_on(runtime, clock, service)
    assert discussion.stored()[comment]["reasons"] == ["phrase"]

    discussion.edit(comment, "good-bye", by="ann")
    go_on(runtime, clock, service)

    assert discussion.stored()[comment]["state"] == "pending"


def test_a_late_message_leaves_the_check_of_an_edit_to_come(
    runtime: Runtime, discussion: Discussion, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    comment, service = write(runtime, discussion), Service("ham")
    go_on(runtime, clock, service)
    change = changes.apply

    def after_a_late_message(*given: Any) -> Any:
        checking.run(runtime, f"{discussion.node_id}/{comment}", service)
        return change(*given)

    with monkeypatch.context() as patched:
        patched.setattr(changes, "apply", after_a_late_message)
        assert discussion.edit(comment, "good-bye", by="ann")["state"] == "pending"
    go_on(runtime, clock, service)

    assert discussion.stored()[comment]["state"] == "visible"
    assert service.asked == ["hello", "good-bye"]


def test_an_answer_shows_an_edit_of_a_shadowed_person_to_them_alone(
    runtime: Runtime, discussion: Discussion, clock: Clock
) -> None:
    comment, service = write(runtime, discussion), Service("ham")
    go_on(runtime, clock, service)
    changing.store(runtime, "default", "ann", {"status": "shadowed"})

    assert discussion.edit(comment, "good-bye", by="ann")["state"] == "pending"
    go_on(runtime, clock, service)

    assert discussion.stored()[comment]["state"] == "hidden"
    assert discussion.get(comment, by="ann")["state"] == "visible"
    assert service.asked == ["hello", "good-bye"]


def test_an_edit_while_the_service_is_asked_is_asked_about_by_itself(
    runtime: Runtime, discussion: Discussion, clock: Clock
) -> None:
    class Slow(Service):
        """A service that is asked while the author edits the comment."""

        def check(self, facts: Facts) -> Answer:
            if not self.asked:
                discussion.edit(comment, "good-bye", by="ann")
            return super().check(facts)

    comment, service = write(runtime, discussion), Slow("ham")
    clock.advance(milliseconds=1)

    go_on(runtime, clock, service)
    assert discussion.stored()[comment]["state"] == "pending"
    go_on(runtime, clock, service)

    assert discussion.stored()[comment]["state"] == "visible"
    assert service.asked == ["hello", "good-bye"]


def test_a_decision_while_the_service_is_asked_ends_a_shadow_for_good(
    runtime: Runtime, discussion: Discussion, clock: Clock
) -> None:
    class Slow(Service):
        """A service that is asked while a moderator hides the comment."""

        def check(self, facts: Facts) -> Answer:
            discussion.set_state(comment, "hidden")
            return super().check(facts)

    # The site knows the author before moderators shadow them.
    write(runtime, discussion, "before")
    go_on(runtime, clock, Service("ham"))
    changing.store(runtime, "default", "ann", {"status": "shadowed"})
    comment = write(runtime, discussion)

    go_on(runtime, clock, Slow("ham"))

    assert discussion.stored()[comment]["state"] == "hidden"
    assert discussion.stored()[comment].get("shadow") is None
