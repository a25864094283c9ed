"""Previews of drafts: rendered once for each version, at a bounded cost, for strangers too."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.content.rendered import RENDERED, render
from chalicelib.limits import ADDRESS_SHARE, PREVIEWS
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from tests.content.support.factories import editor, new, node, publish, publisher, save, write
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply

UNREADABLE = {"text": "&#8203;"}


@pytest.fixture
def rendered(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The versions of drafts that are rendered, as they are."""
    versions: list[int] = []

    def noting(runtime: Runtime, kind: str, words: Any) -> str:
        versions.append(len(versions) + 1)
        return render(runtime, kind, words)

    monkeypatch.setattr("chalicelib.content.reading.previews.render", noting)
    return versions


def address_of(client: Client, node_id: str) -> str:
    """Make a preview as the publisher; return its address."""
    return str(publisher(client).post(f"{node(node_id)}/preview").json["url"])


def read(client: Client, address: str) -> Reply:
    return client.get(address)


def test_a_draft_is_rendered_once_for_each_version(site: Client, rendered: list[int]) -> None:
    node_id = write(editor(site))
    addresses = [address_of(site, node_id) for _ in range(2)]

    shown = [read(site, each).json["html"] for each in addresses * 3]
    as_a_page = site.request("GET", addresses[0], headers={"Accept": "text/html"})

    assert shown == ["<p>It is <em>full</em>.</p>\n"] * 6
    assert shown[0] in as_a_page.body.decode()
    assert len(rendered) == 1
    save(editor(site), node_id, 1, detail={"text": "It is *new*."})
    assert {read(site, each).json["html"] for each in addresses} == {"<p>It is <em>new</em>.</p>\n"}
    assert len(rendered) == 2


def test_another_renderer_renders_anew(
    site: Client, rendered: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    address = address_of(site, write(editor(site)))
    read(site, address)

    monkeypatch.setattr("chalicelib.content.reading.previews.RENDERER", "another")
    for _ in range(2):
        read(site, address)

    assert len(rendered) == 2


@pytest.mark.bounds(content={"html_bytes": 500})
@pytest.mark.parametrize(
    ("detail", "code"), [({"text": "x" * 500}, "page_too_large"), (UNREADABLE, "invalid_request")]
)
def test_a_refusal_is_kept_as_well(
    site: Client, rendered: list[int], detail: dict[str, str], code: str
) -> None:
    address = address_of(site, write(editor(site), detail=detail))

    answers = [read(site, address) for _ in range(3)]

    assert {(each.status, each.code) for each in answers} == {(422, code)}
    assert len({each.body for each in answers}) == 1
    assert len(rendered) == 1


def test_one_rendering_of_a_page_is_kept_as_long_as_a_preview(
    site: Client, runtime: Runtime, clock: Clock
) -> None:
    node_id = write(editor(site))
    for version in range(1, 4):
        read(site, address_of(site, node_id))
        save(editor(site), node_id, version, title=f"No. {version}")

    (stored,) = RENDERED.of(runtime.database).find()

    assert stored["expires_at"] == clock.time + timedelta(days=7)
    (index,) = [
        each
        for each in RENDERED.of(runtime.database).list_indexes()
        if "expireAfterSeconds" in each
    ]
    assert (list(index["key"]), index["expireAfterSeconds"]) == (["expires_at"], 0)


def test_a_deleted_page_leaves_no_rendering(site: Client, runtime: Runtime) -> None:
    node_id = write(editor(site))
    read(site, address_of(site, node_id))

    publisher(site).delete(node(node_id))

    assert RENDERED.of(runtime.database).count_documents({}) == 0


class TestLimits:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"limits": 1.0})

    def test_a_stranger_reads_a_bounded_number(self, site: Client, clock: Clock) -> None:
        address = address_of(site, write(editor(site)))
        most = PREVIEWS.burst * ADDRESS_SHARE
        assert {read(site, address).status for _ in range(most)} == {200}

        refused = read(site, address)

        assert (refused.status, refused.code) == (429, "too_fast")
        clock.advance(seconds=1)
        assert read(site, address).status == 200


HEAVY = {
    "paragraphs": "a\n\n",
    "lines": "a\n",
    "bullets": "- a\n",
    "numbers": "1. a\n",
    "quotes": "> a\n\n",
    "headings": "# a\n",
    "cells": "|a" * 60 + "|\n",
    "emphasis": "*a*_b_",
}


@pytest.mark.parametrize("name", HEAVY)
def test_a_page_has_a_bounded_number_of_parts(site: Client, name: str) -> None:
    head = "|a" * 60 + "|\n" + "|-" * 60 + "|\n" if name == "cells" else ""
    text = (head + HEAVY[name] * 100_000)[:200_000]
    node_id = write(editor(site), detail={"text": text})

    for reply in (read(site, address_of(site, node_id)), publish(site, node_id)):
        assert (reply.status, reply.code) == (422, "page_too_large")
    # The parser looks for assets alone.
    named = new("other", detail={"text": text[:-30] + "\n\n![](asset:aaneGAECAwQFBgcI)"})
    refused = editor(site).post("/content/harbour/nodes", **named)
    assert refused.json["errors"][0]["code"] == "page_too_large"


def test_a_long_page_of_prose_is_published(site: Client) -> None:
    prose = "Far out in the ocean, where the *water* is as [blue](/sea) as the petals. " * 12
    text = "\n\n".join([prose, "- one\n- two\n- three", "| a | b |\n|-|-|\n| c | d |"] * 200)
    assert 180_000 < len(text) < 200_000

    assert publish(site, write(editor(site), detail={"text": text})).status == 200
