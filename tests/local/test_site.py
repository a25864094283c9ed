"""The demo newspaper's routes: its pages, its files, and tokens for its people alone."""

import io
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from wsgiref.util import setup_testing_defaults

import jwt
import pytest
from pydantic import SecretStr

from chalicelib.settings import Settings
from local import articles, demo, demo_shop
from local.demo_articles import FOLDER
from local.site import PERSON_PAGE, READERS, Site, with_site

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
SECRET = "a secret of thirty-two bytes or more"
ARTICLES = json.loads((FOLDER / "articles.json").read_text())


ENTRIES = [
    {
        "address": f"articles/{each['name']}",
        "title": each["title"],
        "summary": each["summary"],
        "tags": [each["section"].lower()],
        "detail": {"cover": "aaneGAECAwQFBgcI"},
        "author": None,
        "views": each["reads"],
        "discussion_id": None,
        "html": "<p>It says this.</p>",
    }
    for each in ARTICLES
]


def published(path: str, query: str) -> Any:
    """Return what the API answers of the newspaper's content; None for another call."""
    if path == "/content/harbour-post":
        return {"entries": ENTRIES}
    if path != "/content/harbour-post/page":
        return None
    return next((each for each in ENTRIES if f"address={each['address']}&" in f"{query}&"), None)


class Answer:
    """What an application answered."""

    def __init__(self, status: str, headers: dict[str, str], body: bytes) -> None:
        self.status = int(status[:3])
        self.headers = headers
        self.body = body.decode()


Ask = Callable[..., Answer]


@pytest.fixture
def ask() -> Ask:
    settings = Settings(
        mongodb_uri=SecretStr("mongodb://unused"),
        jwt_secret=SecretStr(SECRET),
        signing_keys=(SecretStr("0123456789abcdef" * 2),),
    )

    def api(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        content = published(environ["PATH_INFO"], environ.get("QUERY_STRING", ""))
        if content is not None:
            start_response("200 OK", [])
            return [json.dumps(content).encode()]
        start_response("418 I'm a teapot", [])
        return [environ["PATH_INFO"].encode()]

    application = with_site(Site(settings, lambda: NOW), api)

    def asked(method: str, path: str, body: object = None, **environ: Any) -> Answer:
        sent = json.dumps(body).encode() if body is not None else b""
        given = {
            "REQUEST_METHOD": method,
            "PATH_INFO": path,
            "HTTP_HOST": "127.0.0.1:8000",
            "REMOTE_ADDR": "127.0.0.1",
            "HTTP_ACCEPT": "text/html,*/*",
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(sent)),
            "wsgi.input": io.BytesIO(sent),
            **environ,
        }
        setup_testing_defaults(given)
        started: list[Any] = []
        parts = application(given, lambda *told: started.append(told))  # type: ignore[arg-type]
        status, headers = started[0]
        return Answer(status, dict(headers), b"".join(parts))

    return asked


def test_the_front_page_leads_to_all_articles(ask: Ask) -> None:
    answer = ask("GET", "/")

    assert answer.status == 200
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert answer.body.count("<plaza-count") == len(ARTICLES)
    for article in ARTICLES:
        assert f'href="/articles/{article["name"]}"' in answer.body


@pytest.mark.parametrize("article", ARTICLES, ids=lambda article: article["name"])
def test_an_article_has_its_discussion_and_its_pictures(ask: Ask, article: dict[str, str]) -> None:
    answer = ask("GET", f"/articles/{article['name']}")

    assert answer.status == 200
    assert f'<plaza-comments node="{article["node"]}">' in answer.body
    assert "$" not in answer.body
    assert 'src="/assets/aaneGAECAwQFBgcI"' in answer.body
    assert "<p>It says this.</p>" in answer.body
    assert f"{article['reads']} views" in answer.body


def test_each_page_is_counted_and_leads_to_the_feeds(ask: Ask) -> None:
    for path in ("/", "/articles/ferry-timetable", "/in-town"):
        body = ask("GET", path).body
        assert '<plaza-hit site="harbour-post"></plaza-hit>' in body
        for kind, form in (("atom+xml", "atom"), ("feed+json", "json")):
            link = f'type="application/{kind}" title="The Harbour Post" href="/content/harbour-post'
            assert f'{link}/feed.{form}"' in body


@pytest.mark.parametrize(
    ("path", "view"),
    [("", "news"), ("/me", "wall"), ("/for-you", "incoming"), ("/office", "activity")],
)
def test_the_town_has_its_feeds(ask: Ask, path: str, view: str) -> None:
    body = ask("GET", f"/in-town{path}").body

    assert f'<plaza-feed view="{view}" loading="eager">' in body
    assert f'&lt;plaza-feed view="{view}"&gt;&lt;/plaza-feed&gt;' in body
    assert body.count("aria-current=page") == 2
    assert "$" not in body


def test_a_notification_leads_to_the_posts_of_a_person(ask: Ask) -> None:
    page = ask("GET", PERSON_PAGE.format(user="ines"))

    assert page.status == 200
    assert f"<title>{demo.DATA['people']['ines']} · The Harbour Post</title>" in page.body
    assert '<plaza-feed user="ines" loading="eager">' in page.body


@pytest.mark.parametrize("path", ["/shop", "/shop/fog-lamp", "/shop/twelve-winters"])
def test_the_shop_has_its_pages_with_a_cart(ask: Ask, path: str) -> None:
    answer = ask("GET", path)

    assert answer.status == 200
    assert '<plaza-cart site="harbour-post" loading="eager">' in answer.body
    assert '&lt;plaza-cart site="harbour-post"' in answer.body
    assert '<a href="/shop" aria-current=page>Shop</a>' in answer.body
    assert "$" not in answer.body


def test_every_first_category_of_a_product_has_a_picture(ask: Ask) -> None:
    for category in {each["categories"][0] for each in demo_shop.SHOP["products"]}:
        assert ask("GET", f"/site/shop-{category}.svg").status == 200


def test_a_page_allows_nothing_but_its_own_files(ask: Ask) -> None:
    policy = ask("GET", "/").headers["Content-Security-Policy"].split("; ")

    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert not [rule for rule in policy if "unsafe" in rule]


def test_a_page_ends_with_lines_that_name_this_server(ask: Ask) -> None:
    body = ask("GET", "/articles/ferry-timetable", HTTP_HOST="localhost:8123").body

    assert 'src="http://localhost:8123/web/v1/plaza.js"&gt;&lt;/script&gt;' in body
    assert '&lt;plaza-comments node="harbour-post:ferry-timetable"&gt;' in body


def test_a_name_that_is_not_this_machines_is_never_written_into_a_page(ask: Ask) -> None:
    body = ask("GET", "/", HTTP_HOST='"><q>', SERVER_PORT="8000").body

    assert "http://127.0.0.1:8000/web/v1/plaza.js" in body
    assert "<q>" not in body


@pytest.mark.parametrize(
    ("name", "kind"),
    [("site.css", "text/css"), ("demo.js", "text/javascript"), ("icon.svg", "image/svg+xml")],
)
def test_a_file_has_its_type(ask: Ask, name: str, kind: str) -> None:
    answer = ask("GET", f"/site/{name}")

    assert answer.status == 200
    assert answer.headers["Content-Type"] == f"{kind}; charset=utf-8"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.body == (FOLDER / name).read_text()


def test_the_service_worker_lies_above_all_pages(ask: Ask) -> None:
    answer = ask("GET", "/plaza-worker.js")

    assert (answer.status, answer.headers["Content-Type"]) == (
        200,
        "text/javascript; charset=utf-8",
    )
    assert 'importScripts("/web/v1/worker.js");' in answer.body
    assert ask("POST", "/plaza-worker.js").status == 405


@pytest.mark.parametrize(
    "path",
    [
        "/site/",
        "/site/../embed/api.js",
        "/site/..\\embed\\api.js",
        "/site//etc/passwd",
        "/site/layout.html",
        "/site/articles.json",
        "/site/nothing.css",
        "/site/site.css\n",
        "/site/site.css\0",
        "/articles/",
        "/articles/nothing",
        "/articles/../../secrets",
        "/demo/nothing",
        "/in-town/nothing",
        "/in-town/people/",
        "/in-town/people/nobody",
        '/in-town/people/ines"><script>',
        "/shop/",
        "/shop/nothing",
        "/shop/fog-lamp/",
        "/in-towns",
    ],
)
def test_what_is_not_the_sites_is_not_found(ask: Ask, path: str) -> None:
    assert ask("GET", path).status == 404


def test_what_is_the_apis_is_left_to_it(ask: Ask) -> None:
    assert ask("GET", "/", HTTP_ACCEPT="application/json").status == 418
    assert ask("GET", "/nodes/moon/comments").body == "/nodes/moon/comments"
    assert ask("POST", "/posts").status == 418
    assert ask("GET", "/shops/harbour-post/products").status == 418


def test_head_has_the_headers_alone(ask: Ask) -> None:
    answer = ask("HEAD", "/")

    assert (answer.status, answer.body) == (200, "")
    assert int(answer.headers["Content-Length"]) == len(ask("GET", "/").body.encode())


def test_a_page_lists_its_people_without_their_claims(ask: Ask) -> None:
    page = ask("GET", "/").body

    people = re.findall(r'<option value="([\w-]+)"( data-console)?>([^<]+), ([^<]+)</option>', page)
    named = [(sub, READERS[sub]["name"], READERS[sub]["rights"]) for sub, *_ in people]
    assert [(sub, name, rights) for sub, _, name, rights in people] == named
    assert len(people) == len(READERS) == 7
    assert "claims" not in page


@pytest.mark.parametrize("sub", READERS)
def test_each_of_the_people_gets_a_token_for_a_quarter_of_an_hour(ask: Ask, sub: str) -> None:
    answer = ask("POST", "/demo/token", {"sub": sub})

    token = json.loads(answer.body)["token"]
    claims = jwt.decode(
        token, SECRET, ["HS256"], options={"verify_exp": False, "verify_iat": False}
    )
    assert (claims["sub"], claims["name"]) == (sub, READERS[sub]["name"])
    assert claims["exp"] - NOW.timestamp() == 15 * 60
    assert claims.get("roles", []) == READERS[sub]["claims"].get("roles", [])
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    "body",
    [{"sub": "mallory"}, {"sub": ["mara"]}, {"sub": None}, {}, [], "mara", {"sub": "x" * 2_000}],
)
def test_nobody_else_gets_a_token(ask: Ask, body: object) -> None:
    assert ask("POST", "/demo/token", body).status == 404


@pytest.mark.parametrize(
    "elsewhere",
    [
        {"REMOTE_ADDR": "192.0.2.7"},
        {"HTTP_HOST": "rebound.example:8000"},
        {"HTTP_HOST": "localhost.example"},
        {"HTTP_HOST": ""},
        {"HTTP_X_FORWARDED_FOR": "192.0.2.7"},
        {"HTTP_FORWARDED": "for=192.0.2.7"},
        {"CONTENT_TYPE": "text/plain"},
    ],
)
def test_no_other_machine_and_no_other_page_gets_a_token(
    ask: Ask, elsewhere: dict[str, str]
) -> None:
    answer = ask("POST", "/demo/token", {"sub": "mara"}, **elsewhere)

    assert answer.status == 403
    assert "Access-Control-Allow-Origin" not in answer.headers


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [("GET", "/demo/token", "POST"), ("POST", "/site/site.css", "GET, HEAD")],
)
def test_another_method_is_not_allowed(ask: Ask, method: str, path: str, allowed: str) -> None:
    answer = ask(method, path)

    assert (answer.status, answer.headers["Allow"]) == (405, allowed)


def test_any_page_of_the_content_is_read_in_the_newspaper(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    eiders = {**ENTRIES[0], "address": "nature/eiders", "title": "215 eiders"}
    monkeypatch.setattr(f"{__name__}.ENTRIES", [*ENTRIES, eiders])

    found = ask("GET", articles.place_of("nature/eiders"), HTTP_ACCEPT="text/html")

    assert found.status == 200
    assert "<h1>215 eiders</h1>" in found.body
    # A program asks the API.
    assert ask("GET", "/nature/eiders", HTTP_ACCEPT="application/json").status == 418
    assert ask("GET", "/nature/gulls", HTTP_ACCEPT="text/html").status == 418
