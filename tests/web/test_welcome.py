"""The API's root says what this is, to a program and to a person."""

from urllib.parse import urlsplit

from chalicelib import __version__
from tests.support.http_client import Client

BROWSER = {"Accept": "text/html,*/*;q=0.8"}


def test_a_program_reads_where_to_go_on(client: Client) -> None:
    answer = client.get("/")

    assert (answer.json["name"], answer.json["version"]) == ("Plaza", __version__)
    assert "Accept" in answer.headers["Vary"].split(", ")
    for name in ("reference_url", "document_url", "loader_url", "console_url"):
        assert client.get(urlsplit(answer.json[name]).path).status == 200


def test_a_browser_gets_a_page_that_runs_no_script(client: Client) -> None:
    page = client.request("GET", "/", headers=BROWSER)

    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "script-src" not in page.headers["Content-Security-Policy"]
    assert b"<plaza-comments" in page.body.replace(b"&lt;", b"<")


def test_a_browser_that_has_the_page_is_told_so(client: Client) -> None:
    tag = client.request("GET", "/", headers=BROWSER).headers["ETag"]

    again = client.request("GET", "/", headers={**BROWSER, "If-None-Match": tag})

    assert (again.status, again.body) == (304, b"")
