"""A certified OpenID provider, run for tests: `oidc-provider`, as its package-lock.json pins it."""

import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from contract.programs import NoNode, node_modules

_FOLDER = Path(__file__).parent


@contextlib.contextmanager
def running_provider() -> Iterator[str]:
    """Run the provider; yield its issuer.

    It skips the test where there is no npm, which in CI is a failure.
    """
    try:
        # Processes of tests may ask at once.
        with (_FOLDER / "package-lock.json").open() as pinned:
            fcntl.flock(pinned, fcntl.LOCK_EX)
            node_modules(_FOLDER)
    except NoNode as failure:
        if "CI" in os.environ:
            raise
        pytest.skip(str(failure))
    node = shutil.which("node")
    assert node is not None
    command = [node, str(_FOLDER / "provider.mjs")]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            issuer = process.stdout.readline().strip()
            assert issuer, "the provider did not start"
            yield issuer
        finally:
            process.stdin.close()
            process.terminate()


def register(issuer: str, redirect_uri: str, method: str) -> tuple[str, str]:
    """Register a client; return its id and its secret."""
    asked = {"redirect_uris": [redirect_uri], "token_endpoint_auth_method": method}
    request = urllib.request.Request(  # noqa: S310 - on this machine
        f"{issuer}/reg", json.dumps(asked).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as answer:  # noqa: S310 - on this machine
        made = json.load(answer)
    return made["client_id"], made["client_secret"]


class _LedBack(Exception):
    """The provider leads back to its client."""


@dataclass
class Reader:
    """A reader with a browser, who signs in at the provider under a name, and agrees."""

    issuer: str
    name: str

    def follow(self, address: str) -> dict[str, str]:
        """Open an address of the provider; return the query that it leads back with."""
        issuer = self.issuer

        class Redirects(urllib.request.HTTPRedirectHandler):
            def redirect_request(self, *given: Any) -> urllib.request.Request | None:
                address = str(given[-1])
                if not address.startswith(issuer):
                    raise _LedBack(address)
                return super().redirect_request(*given)

        cookies = urllib.request.HTTPCookieProcessor(CookieJar())
        browser = urllib.request.build_opener(cookies, Redirects())
        forms = [
            {"prompt": "login", "login": self.name, "password": "any"},
            {"prompt": "consent"},
        ]
        try:
            with browser.open(address) as page:
                place = page.geturl()
            for form in forms:
                with browser.open(place, urlencode(form).encode()) as page:
                    place = page.geturl()
        except _LedBack as led:
            return dict(parse_qsl(urlsplit(str(led)).query))
        raise AssertionError(f"the provider stays at {place}")
