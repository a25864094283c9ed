"""Imports of pages that end early, or that run twice at once."""

import threading
from datetime import timedelta
from itertools import pairwise

import pytest

from chalicelib.content import personal_data
from chalicelib.content.publishing import publishing
from chalicelib.content.publishing.forms import Publication
from chalicelib.content.publishing.publishing import Arrival
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from chalicelib.wiring.pages import DISCUSSIONS
from tests.comments.support.crash_points import crash_everywhere
from tests.comments.support.crashes import Crash, crash
from tests.content.support.factories import BASE, listed
from tests.content.support.wordpress import bring, item, nodes, numbers
from tests.support.http_client import Client

ITEMS = [item(1), item(2, wp__status="draft")]


def test_an_import_goes_on_after_a_crash_at_any_command(
    site: Client, runtime: Runtime, settings: Settings
) -> None:
    uri = settings.mongodb_uri.get_secret_value()
    seen = [
        [(each["version"], each["edition"]) for each in nodes(runtime)]
        for _ in crash_everywhere(runtime, uri, lambda ending: bring(ending, *ITEMS))
    ]

    assert seen[-1] == [(1, 1), (1, 0)]
    assert all(before <= after for before, after in pairwise(seen))
    assert listed(site) == ["2024/05/post-1"]
    assert runtime.database["content.revision"].count_documents({}) == 2
    assert numbers(bring(runtime, *ITEMS)) == {"pages": 2, "present": 2}


def test_a_page_that_another_run_has_published_is_not_published_again(
    site: Client, runtime: Runtime
) -> None:
    bring(runtime, item(1))
    (before,) = nodes(runtime)

    arrival = Arrival(f"{BASE}/moon/")
    publishing.publish(runtime, DISCUSSIONS, before, Publication(version=1), arrival)

    assert nodes(runtime) == [before]
    assert listed(site) == ["2024/05/post-1"]


def test_a_page_whose_writer_changed_before_its_publication_is_published(
    site: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(publishing, "publish", crash)
        with pytest.raises(Crash):
            bring(runtime, item(1))
    (draft,) = nodes(runtime)
    assert draft["author"] is not None
    personal_data.erase(runtime, draft["author"]["id"])

    bring(runtime, item(1))

    assert listed(site) == ["2024/05/post-1"]


@pytest.mark.usefixtures("site")
def test_a_planned_page_that_was_withdrawn_stays_withdrawn(runtime: Runtime) -> None:
    later = f"{runtime.now() + timedelta(days=1):%Y-%m-%d %H:%M:%S}"
    planned = item(1, wp__status="future", wp__post_date_gmt=later)
    bring(runtime, planned)
    (page,) = nodes(runtime)
    assert page["published"] is not None
    publishing.unpublish(runtime, page)

    assert numbers(bring(runtime, planned))["present"] == 1

    (page,) = nodes(runtime)
    assert page["published"] is None


def test_two_imports_at_once_bring_each_page_once(site: Client, runtime: Runtime) -> None:
    items = [item(number) for number in range(1, 11)]
    faults: list[BaseException] = []

    def work() -> None:
        try:
            bring(runtime, *items)
        except BaseException as fault:  # noqa: BLE001 - told by the test
            faults.append(fault)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert faults == []
    assert len(listed(site)) == 10
    assert [each["edition"] for each in nodes(runtime)] == [1] * 10
