"""Reading assets: ranges, tags, and what keeps a file from doing harm."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chalicelib.assets.blobs.gridfs import CHUNK_BYTES
from chalicelib.assets.jobs import run_due
from chalicelib.assets.kinds import ANY
from chalicelib.assets.ranges import MOST_BYTES
from chalicelib.runtime import Runtime
from deploy.resources import OWN_RESOURCES
from tests.assets.support.files import png
from tests.assets.support.uploading import SITE, Uploader, digest
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply

CONTENT = bytes(range(256)) * (MOST_BYTES // 256) + b"and a little more"


def ask(client: Client, url: str, method: str = "GET", **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.request(method, url, headers=named)


@pytest.fixture
def url(editor: Uploader) -> str:
    """Where a file of a little more than 4 MiB is."""
    return str(editor.upload(CONTENT, "text/csv")["current"]["url"])


@settings(
    max_examples=30,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    start=st.one_of(st.integers(0, len(CONTENT) - 1), st.sampled_from((0, CHUNK_BYTES))),
    length=st.one_of(st.integers(1, 3 * CHUNK_BYTES), st.just(CHUNK_BYTES)),
)
def test_a_range_has_the_bytes_of_the_file(
    url: str, client: Client, start: int, length: int
) -> None:
    reply = ask(client, url, Range=f"bytes={start}-{start + length - 1}")

    assert reply.status == 206
    assert reply.body == CONTENT[start : start + length]
    last = min(start + length, len(CONTENT)) - 1
    assert reply.headers["Content-Range"] == f"bytes {start}-{last}/{len(CONTENT)}"


def test_a_player_reads_a_file_to_its_end(url: str, client: Client) -> None:
    """As browsers do: from the beginning with an open end, on from where an answer ended."""
    got = b""
    while len(got) < len(CONTENT):
        reply = ask(client, url, Range=f"bytes={len(got)}-")
        assert reply.status == 206
        assert 0 < len(reply.body) <= MOST_BYTES
        got += reply.body

    assert got == CONTENT


def test_more_than_an_answer_can_have_is_not_given_whole(url: str, client: Client) -> None:
    reply = client.get(url)

    assert (reply.status, reply.code) == (400, "range_needed")
    assert reply.headers["Content-Range"] == f"bytes */{len(CONTENT)}"


def test_an_answer_may_have_four_mebibytes(editor: Uploader, client: Client) -> None:
    asset = editor.upload(CONTENT[:MOST_BYTES], "text/csv")

    assert client.get(asset["current"]["url"]).body == CONTENT[:MOST_BYTES]


@pytest.mark.parametrize("wanted", ["bytes=5-2", "bytes=-0", f"bytes={len(CONTENT)}-"])
def test_a_range_without_a_byte_is_refused_with_the_length(
    url: str, client: Client, wanted: str
) -> None:
    reply = ask(client, url, Range=wanted)

    assert (reply.status, reply.code) == (416, "unsatisfiable_range")
    assert reply.headers["Content-Range"] == f"bytes */{len(CONTENT)}"


def test_head_says_what_get_would_and_reads_nothing(url: str, client: Client) -> None:
    whole = ask(client, url, "HEAD")
    part = ask(client, url, "HEAD", Range="bytes=0-9")

    assert (whole.status, whole.headers["Content-Length"]) == (200, str(len(CONTENT)))
    assert (part.status, part.headers["Content-Length"]) == (206, "10")
    assert whole.headers["Accept-Ranges"] == "bytes"
    assert whole.body == part.body == b""


def test_who_has_a_version_is_told_so(url: str, client: Client) -> None:
    tag = f'"{digest(CONTENT)}"'

    for held in (tag, f"W/{tag}", f'"other", {tag}'):
        reply = ask(client, url, If_None_Match=held, Range="bytes=0-1")
        assert (reply.status, reply.headers["ETag"], reply.body) == (304, tag, b"")
    assert ask(client, url, If_None_Match='"other"', Range="bytes=0-1").status == 206


@pytest.mark.parametrize(("held", "status"), [(digest(CONTENT), 206), (digest(b""), 400)])
def test_a_range_counts_only_if_the_file_is_the_one_that_was_begun(
    url: str, client: Client, held: str, status: int
) -> None:
    assert ask(client, url, If_Range=f'"{held}"', Range="bytes=5-9").status == status
    assert ask(client, url, If_Range=f'W/"{held}"', Range="bytes=5-9").status == 400


def test_a_version_is_kept_for_ever_and_an_address_for_a_minute(
    editor: Uploader, client: Client
) -> None:
    asset = editor.upload(png(), "image/png")

    version, address = client.get(asset["current"]["url"]), client.get(asset["url"])

    assert version.headers["Cache-Control"] == "public, max-age=3600"
    assert address.headers["Cache-Control"] == "public, max-age=60"


@pytest.mark.parametrize(
    ("content", "kind", "how"),
    [(png(), "image/png", "inline"), (b"<script>alert(1)</script>", "text/html", "attachment")],
)
def test_a_file_can_do_nothing_where_it_is_opened(
    editor: Uploader, client: Client, content: bytes, kind: str, how: str
) -> None:
    asset = editor.upload(content, kind, name='Über "x".png; y')

    headers = client.get(asset["current"]["url"]).headers

    assert headers["Content-Type"] == ("image/png" if how == "inline" else ANY)
    assert headers["Content-Disposition"] == (
        f"{how}; filename*=UTF-8''%C3%9Cber%20%22x%22.png%3B%20y"
    )
    assert headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert headers["X-Content-Type-Options"] == "nosniff"
    # API Gateway would compress the answer, and a range of what is compressed is no range.
    assert headers["Content-Encoding"] == "identity"


@pytest.mark.parametrize("accept", [None, "*/*", "text/html,image/webp;q=0.8", "image/png"])
def test_bytes_are_given_whatever_a_caller_accepts(
    editor: Uploader, client: Client, accept: str | None
) -> None:
    url = editor.upload(png(), "image/png")["current"]["url"]
    headers = {} if accept is None else {"Accept": accept}

    assert client.request("GET", url, headers=headers).body == png()


@pytest.mark.parametrize(
    "path", ["/assets/none", "/assets/none/1", "/assets/{id}/2", "/content/{site}/assets/none"]
)
def test_what_is_not_there_is_not_found(editor: Uploader, path: str) -> None:
    asset = editor.upload(png(), "image/png")

    reply = editor.client.get(path.format(site=SITE, **asset))

    assert (reply.status, reply.code) == (404, "unknown_asset")


def test_a_version_has_a_number(editor: Uploader, client: Client) -> None:
    asset = editor.upload(png(), "image/png")

    for number in ("0", "51", "x"):
        assert client.get(f"{asset['url']}/{number}").code == "invalid_request"


def test_a_deleted_asset_is_gone_and_its_bytes_follow(
    editor: Uploader, client: Client, runtime: Runtime, clock: Clock
) -> None:
    asset = editor.upload(png(), "image/png")
    editor.upload(png(4, 4), "image/png", f"/assets/{asset['id']}/versions")
    path = f"/content/{SITE}/assets/{asset['id']}"

    assert editor.client.delete(path).status == 204

    assert editor.client.delete(path).code == "unknown_asset"
    assert client.get(asset["current"]["url"]).code == "unknown_asset"
    assert _chunks(runtime) == 2
    clock.advance(minutes=15, milliseconds=-1)
    run_due(runtime)
    assert _chunks(runtime) == 2
    clock.advance(milliseconds=1)
    run_due(runtime)
    assert _chunks(runtime) == 0


def _chunks(runtime: Runtime) -> int:
    return runtime.database["asset.chunks"].count_documents({})


def test_assets_are_listed_newest_first(editor: Uploader, clock: Clock) -> None:
    made = []
    for number in range(5):
        made.append(editor.upload(png(), "image/png", name=f"No. {number}")["id"])
        # The last two in the same millisecond.
        clock.advance(milliseconds=int(number < 3))
    found: list[str] = []
    path = f"/content/{SITE}/assets?limit=2"
    cursor: str | None = ""
    while cursor is not None:
        page = editor.client.get(f"{path}{'&cursor=' if cursor else ''}{cursor}").json
        found += [each["id"] for each in page["assets"]]
        cursor = page["next"]

    assert found[2:] == made[2::-1]
    assert sorted(found[:2]) == sorted(made[3:])
    assert editor.client.get(f"{path}&cursor=x").code == "invalid_cursor"


def test_a_browser_opens_assets_without_a_key() -> None:
    assert {"/assets/{asset}", "/assets/{asset}/{number}"} <= OWN_RESOURCES.keys()
