"""A site of somebody else: another origin than the API's, with the strictest policy of its own."""

import contextlib
import functools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deploy.declared import ROOT
from tests.support.serving import served_application

if TYPE_CHECKING:
    from wsgiref.types import StartResponse

_PAGE = """<!doctype html><html lang="{language}"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>The page of a site</title>
{head}<meta name="plaza-token-url" content="/token">
<link rel="stylesheet" href="/site.css">
<script type="module" async src="{api}/web/v1/plaza.js"></script>
<main><h1>A page</h1>{body}</main></html>"""


@functools.cache
def _documented_policy() -> str:
    """Return the sources that `docs/embed.md` has a page allow."""
    _, section = (ROOT / "docs" / "embed.md").read_text().split("\n## Content-Security-Policy\n")
    return section.split("```")[1].strip()


@dataclass
class Site:
    """A site with one page; `token` says who reads it."""

    api: str
    token: Callable[[], str | None] = lambda: None
    body: str = ""
    language: str = "en"
    css: str = ""
    address: str = ""
    head: str = ""
    # The script of the site's own service worker.
    worker: str = ""

    @property
    def policy(self) -> str:
        """Return the policy that the documentation asks for, and nothing more."""
        of_plaza = _documented_policy().replace("https://plaza.example", self.api)
        of_worker = "worker-src 'self'; " if self.worker else ""
        own_types = " plaza-push" if self.worker else ""
        return (
            f"default-src 'none'; {of_plaza}; style-src 'self'; "
            f"{of_worker}require-trusted-types-for 'script'; trusted-types plaza{own_types}"
        )

    def __call__(self, environ: dict[str, Any], start_response: "StartResponse") -> list[bytes]:
        """Answer with the page, or with the token of who is signed in."""
        if environ["PATH_INFO"] == "/token":
            token = self.token()
            start_response("200 OK" if token else "204 No Content", [])
            return [json.dumps({"token": token}).encode() if token else b""]
        if environ["PATH_INFO"] == "/site.css":
            start_response("200 OK", [("Content-Type", "text/css")])
            return [self.css.encode()]
        if environ["PATH_INFO"] == "/plaza-worker.js":
            start_response("200 OK", [("Content-Type", "text/javascript")])
            return [self.worker.encode()]
        if environ["PATH_INFO"] != "/":
            start_response("204 No Content", [])
            return [b""]
        headers = [("Content-Type", "text/html"), ("Content-Security-Policy", self.policy)]
        start_response("200 OK", headers)
        page = _PAGE.format(api=self.api, body=self.body, head=self.head, language=self.language)
        return [page.encode()]


@contextlib.contextmanager
def serving(site: Site) -> Iterator[Site]:
    """Serve a site on a port of its own."""
    with served_application(site) as address:
        site.address = address
        yield site
