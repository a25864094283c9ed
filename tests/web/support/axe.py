"""axe-core: which rules of WCAG 2.2 (A and AA) and of good practice a page breaks."""

import os
from typing import Literal

import pytest
from playwright.sync_api import Page

from contract.clients import TYPESCRIPT, typescript_tools
from contract.programs import NoNode

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")

# The rules that a page keeps have thousands of nodes, of which nothing is asked.
_OPTIONS = {"runOnly": {"type": "tag", "values": RULES}, "resultTypes": ["violations"]}
_RUN = """([within, options]) => axe.run(within, options).then(({ violations }) =>
  violations.map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 200)}`))"""
# Elements look at the page again in the frame after its scheme has changed. Frames are counted from
# the change: where a test has set the page's clock, it also sets when its frames come.
_FOLLOW = """(scheme) => {
  const query = matchMedia(`(prefers-color-scheme: ${scheme})`);
  const frame = () => new Promise(requestAnimationFrame);
  const changed = new Promise((done) => {
    if (query.matches) done();
    else query.addEventListener("change", done, { once: true });
  });
  window.followed = changed.then(frame).then(frame);
}"""


def source() -> str:
    """Return axe-core's source; skips the test where there is no npm, which in CI is a failure."""
    try:
        typescript_tools()
    except NoNode as failure:
        if "CI" in os.environ:
            raise
        pytest.skip(str(failure))
    return (TYPESCRIPT / "node_modules" / "axe-core" / "axe.min.js").read_text()


def violations(page: Page, axe: str, within: str = "html") -> list[str]:
    """Return the rules that a page breaks, and where."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(axe)
    found: list[str] = page.evaluate(_RUN, [within, _OPTIONS])
    return found


def in_both_schemes(page: Page, axe: str) -> list[str]:
    """Return what a page breaks in light colours or in dark ones."""
    found: list[str] = []
    for scheme in SCHEMES:
        page.evaluate(_FOLLOW, scheme)
        page.emulate_media(color_scheme=scheme)
        page.evaluate("window.followed")
        found += violations(page, axe)
    return found
