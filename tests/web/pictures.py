"""Take the pictures of the demo that the README and the tour show, and write them to docs/pictures.

A server of its own is started with the demo in it, and Chromium looks at it. Names choose which
pictures are taken; without any all of them are.
"""

import argparse
import base64
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Browser, Page

from tests.local.stack import ROOT, started
from tests.web.support.browser import running_browser

FOLDER = ROOT / "docs" / "pictures"
PATIENCE_MS = 30_000
_DESK: dict[str, Any] = {"viewport": {"width": 1200, "height": 900}, "device_scale_factor": 1.25}
_PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 760}, "device_scale_factor": 2}
_COLUMN: dict[str, Any] = {"viewport": {"width": 760, "height": 900}, "device_scale_factor": 1.5}
_DARK: dict[str, Any] = {"color_scheme": "dark"}
_ARTICLE, _FORM = "/articles/lighthouse-cafe", "plaza-comments form"
# Where an article ends, above its discussion.
_END = ".story > p:last-of-type"
# Chromium writes WebP, a third of PNG's size; Playwright has no option for it.
_AS_WEBP = """async ([png, quality]) => {
  const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
  const canvas = new OffscreenCanvas(image.width, image.height);
  canvas.getContext("2d").drawImage(image, 0, 0);
  const blob = await canvas.convertToBlob({ type: "image/webp", quality });
  const bytes = new Uint8Array(await blob.arrayBuffer());
  return btoa(Array.from(bytes, (each) => String.fromCharCode(each)).join(""));
}"""
_QUALITY = 0.8


class Picture(NamedTuple):
    """A page, what must be seen in it and what stands at its top.

    `reader` is who reads, `clicked` what is pressed first, `browser` what the browser is like.
    """

    path: str
    seen: str
    at: str = "body"
    reader: str = ""
    clicked: str = ""
    browser: Mapping[str, Any] = _DESK


PICTURES = {
    "front": Picture("/", "plaza-ad [part=ad]"),
    "feed": Picture("/in-town", "plaza-feed [part~=post]", reader="tobias"),
    "shop": Picture("/shop", "plaza-cart [part~=line]", clicked="[data-plaza-buy=FOG-LAMP]"),
    "article": Picture(_ARTICLE, _FORM, _END, "tobias", browser=_COLUMN),
    "article-dark": Picture(_ARTICLE, _FORM, _END, "tobias", browser={**_COLUMN, **_DARK}),
    "article-phone": Picture(_ARTICLE, _FORM, _END, "tobias", browser=_PHONE),
    "front-phone-dark": Picture("/", "plaza-count", browser={**_PHONE, **_DARK}),
    "docs": Picture("/docs#/Comments", "#putNode > summary", ".subject[open]"),
}


def main() -> None:
    """Take the pictures of the command line."""
    parser = argparse.ArgumentParser(prog="script/screenshots", description=__doc__)
    parser.add_argument("name", nargs="*", help=f"one of: {', '.join(PICTURES)}")
    names = parser.parse_args().name or list(PICTURES)
    if unknown := {*names} - PICTURES.keys():
        parser.error(f"there is no picture {', '.join(sorted(unknown))}")
    FOLDER.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        started(Path(folder)) as server,
        running_browser() as browser,
    ):
        address = server.wait_until_running()
        for name in names:
            file = FOLDER / f"{name}.webp"
            file.write_bytes(taken(browser, address, PICTURES[name]))
            print(f"{file.stat().st_size:>7,} B  {file.relative_to(ROOT)}")


def taken(browser: Browser, address: str, picture: Picture) -> bytes:
    """Return a picture as WebP."""
    context = browser.new_context(**picture.browser)
    context.set_default_timeout(PATIENCE_MS)
    if picture.reader:
        context.add_init_script(
            f"sessionStorage.setItem('harbour-post:reader', '{picture.reader}')"
        )
    page = context.new_page()
    page.goto(f"{address}{picture.path}")
    if picture.clicked:
        page.locator(picture.clicked).click()
    place = page.locator(picture.at).first
    place.evaluate("each => each.scrollIntoView({ block: 'start' })")
    page.locator(picture.seen).first.wait_for()
    page.wait_for_load_state("networkidle")
    # What came meanwhile has moved it.
    place.evaluate("each => each.scrollIntoView({ block: 'start' })")
    shot = page.screenshot()
    context.close()
    return _as_webp(browser.new_page(), shot)


def _as_webp(page: Page, png: bytes) -> bytes:
    text: str = page.evaluate(_AS_WEBP, [base64.b64encode(png).decode(), _QUALITY])
    page.close()
    return base64.b64decode(text)


if __name__ == "__main__":
    main()
