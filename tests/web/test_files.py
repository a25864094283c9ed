"""What browsers load: small, whole, kept by caches for as long as it does not change."""

import dataclasses
import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from chalice.local import LocalChalice

from app import create_app
from chalicelib.comments import rendering
from chalicelib.runtime import Runtime
from chalicelib.web.files import EMBED
from deploy.web import SOURCES, CannotJoin, build, built, joined, small
from tests.support.http_client import Client

# What was built once, and is still in pages that were opened then.
LOADERS = sorted(Path(__file__).with_name("loaders").glob("*.js"))
BUDGETS_BYTES = json.loads(Path(__file__).with_name("budgets.json").read_text())


def release(client: Client) -> str:
    """Return the folder that the loader names."""
    found = re.search(r'"\.\./([^/]+)/', client.get("/web/v1/plaza.js").body.decode())
    assert found is not None
    return found[1]


@pytest.mark.parametrize("name", BUDGETS_BYTES)
def test_a_file_stays_within_its_budget(name: str) -> None:
    size = len(gzip.compress((EMBED / name).read_bytes(), 9))

    assert size <= BUDGETS_BYTES[name]


def test_every_file_has_a_budget_but_other_languages() -> None:
    scripts = {each.name for each in EMBED.glob("*.js") if not each.name.startswith("words-")}

    assert scripts == BUDGETS_BYTES.keys()
    words = [len(gzip.compress(each.read_bytes(), 9)) for each in EMBED.glob("words-*.js")]
    assert max(words, default=0) <= 1_500


def test_the_loader_is_revalidated_and_what_it_names_is_kept_forever(client: Client) -> None:
    loader = client.get("/web/v1/plaza.js")
    named = client.get(f"/web/{release(client)}/comments.js")

    assert "max-age=300" in loader.headers["Cache-Control"]
    assert "immutable" in named.headers["Cache-Control"]
    assert named.headers["Content-Type"].startswith("text/javascript")
    held = {"If-None-Match": named.headers["ETag"]}
    assert client.request("GET", f"/web/{release(client)}/comments.js", headers=held).status == 304


@pytest.mark.parametrize("loader", LOADERS, ids=lambda each: each.stem)
def test_what_the_loader_of_another_release_names_is_this_releases_for_a_while(
    client: Client, loader: Path
) -> None:
    named = re.findall(r'"\.\./([^/"]+/[^/"]+)"', loader.read_text())
    assert len(named) >= 3
    for each in named:
        file = each.partition("/")[2]
        answer, ours = client.get(f"/web/{each}"), client.get(f"/web/{release(client)}/{file}")
        assert (answer.status, answer.body) == (200, ours.body)
        assert answer.headers["Cache-Control"] == "public, max-age=300"
        assert answer.headers["ETag"] == ours.headers["ETag"]


@pytest.mark.parametrize(
    "path", ["v1/comments.js", "0.1.0-0123456789ab/plaza.js", "v1/manifest.json"]
)
def test_no_file_has_two_kinds_of_address(client: Client, path: str) -> None:
    answer = client.get(f"/web/{path}")

    assert (answer.status, answer.code) == (404, "unknown_file")


def test_any_page_may_load_a_file_and_none_with_credentials(
    runtime: Runtime, token: Callable[..., str]
) -> None:
    """Also where a deployment lists the origins that may call it."""
    settings = runtime.settings.model_copy(update={"allowed_origins": ("https://post.example",)})
    listed = dataclasses.replace(runtime, settings=settings)
    client = Client(create_app(listed, LocalChalice), token)
    origin = {"Origin": "https://other.example"}

    file = client.request("GET", "/web/v1/plaza.js", headers=origin).headers
    call = client.request("GET", "/health", headers=origin).headers

    assert file["Access-Control-Allow-Origin"] == "*"
    assert file["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert "Access-Control-Allow-Credentials" not in file
    assert call["Access-Control-Allow-Origin"] == "https://post.example"
    assert call["Access-Control-Allow-Credentials"] == "true"


def test_a_build_is_the_same_each_time_and_leaves_nothing_old(tmp_path: Path) -> None:
    (tmp_path / "old.js").write_text("old")

    assert build(tmp_path) == built(SOURCES)
    assert {each.name for each in tmp_path.iterdir()} == built(SOURCES).keys()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('import { a } from "./b.js";\nconst b = a;', "b stands in b.js and in a.js"),
        ('import * as b from "./b.js";', "imports in a form that is not known"),
        ("eval(1);", "uses eval("),
        ("x.outerHTML = 1;", r"uses .outerHTML"),
    ],
)
def test_sources_that_do_not_fit_into_one_file_are_refused(
    tmp_path: Path, text: str, told: str
) -> None:
    (tmp_path / "b.js").write_text("export const a = 1;\nconst b = 2;\n")
    (tmp_path / "a.js").write_text(text)

    with pytest.raises(CannotJoin) as refused:
        joined(tmp_path, "a.js", {})

    assert told in str(refused.value)


@pytest.mark.parametrize("destructuring", ["const { told } = await ask()", "const [told] = ask()"])
def test_a_declaration_stays_before_the_destructuring_behind_it(destructuring: str) -> None:
    text = f"async function f() {{\n  const at = now();\n  {destructuring};\n  g(at, told);\n}}"

    made = small(text)

    assert made.index("now()") < made.index("ask()")


@pytest.mark.parametrize("between", ["", "  /** The answer. */\n", "  // It comes late.\n"])
def test_a_let_directly_before_a_destructuring_is_refused(between: str) -> None:
    text = f"function f() {{\n  let at = now();\n{between}  const {{ told }} = ask();\n}}"

    with pytest.raises(CannotJoin, match=re.escape("let at = now();")):
        small(text)


def test_the_browsers_sanitiser_lets_through_what_the_renderer_does() -> None:
    """The renderer adds `rel` to links by itself."""
    source = (SOURCES / "markup.js").read_text()
    plain = re.search(r'\.\.\."([a-z0-9 ]+)"\.split', source)
    named = dict(re.findall(r'\{ name: "(\w+)", attributes: \[([^\]]+)\] \}', source))
    assert plain is not None
    attributes = {name: set(re.findall(r'"([\w-]+)"', listed)) for name, listed in named.items()}

    assert {*plain[1].split(), *attributes} == {*rendering.TAGS, "img"}
    assert attributes.pop("span") == {"class", *rendering.IMAGE_ATTRIBUTES["span"]}
    assert attributes.pop("a") == {*rendering.IMAGE_ATTRIBUTES["a"], "rel"}
    assert attributes == {name: rendering.IMAGE_ATTRIBUTES[name] for name in ("ol", "img")}
