"""The commands that bring pages and products over, as an operator calls them."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from deploy.declared import ROOT
from tests.content.support.factories import SITE, listed, set_up
from tests.content.support.wordpress import FOOT, HEAD, item, wxr
from tests.deploy.test_discussions import MEASURED, Plaza
from tests.shop.support.factories import open_shop
from tests.shop.support.shopify import MUG, mug, written
from tests.support.http_client import Client

pytestmark = pytest.mark.processes

MOVING = ROOT / "docs" / "moving"
# Of a whole process beyond its modules: it takes a fourth. The files have more, and 3.2 kB for each
# of their pages or products would be more.
MOST_BYTES = 8 * 1_000_000
NUMBER = 2_500


@pytest.fixture
def plaza(settings: Settings, client: Client, tmp_path: Path) -> Plaza:
    set_up(client)
    open_shop(client)
    return Plaza(settings, tmp_path)


def test_pages_come_over(plaza: Plaza, client: Client) -> None:
    (plaza.folder / "old.xml").write_bytes(wxr(item(1), item(2, wp__status="private")))

    dry = plaza("import-pages", "--site", SITE, "--dry-run", "old.xml")
    nothing = listed(client)
    done = plaza("import-pages", "--site", SITE, "old.xml")
    again = plaza("import-pages", "--site", SITE, "old.xml")

    report = [
        "1 are published, with their dates",
        "1 did not come over",
        "  1 private",
        "  private: line 31, post 2",
    ]
    assert (dry.returncode, dry.stderr) == (0, "")
    assert dry.stdout.splitlines() == ["1 of 2 pages would be imported", *report]
    assert nothing == []
    assert done.stdout.splitlines() == ["1 of 2 pages are imported", *report]
    assert listed(client) == ["2024/05/post-1"]
    assert again.stdout.splitlines()[:2] == ["0 of 2 pages are imported", "1 were here already"]


def test_products_come_over(plaza: Plaza, client: Client) -> None:
    (plaza.folder / "old.csv").write_bytes(written(MUG))

    done = plaza("import-products", "--site", SITE, "old.csv")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "1 of 1 products are imported",
        "1 variants have a SKU and a price",
        "12 units are on their shelves",
        "1 pictures stay where they are",
    ]
    assert client.get(f"/shops/{SITE}/products/moon-mug").status == 200


def test_a_broken_file_brings_nothing(plaza: Plaza, client: Client) -> None:
    (plaza.folder / "half.xml").write_bytes(wxr(item(1), item(2))[:-40])
    (plaza.folder / "half.csv").write_bytes(written(MUG, mug(Handle="b"))[:-20] + b'"')
    (plaza.folder / "whole.xml").write_bytes(wxr(item(1)))

    pages = plaza("import-pages", "--site", SITE, "half.xml")
    products = plaza("import-products", "--site", SITE, "half.csv")
    nowhere = plaza("import-pages", "--site", "other", "whole.xml")
    missing = plaza("import-products", "--site", SITE, "none.csv")

    for told in (pages, products):
        assert (told.returncode, told.stdout) == (1, "")
        assert told.stderr.startswith("script/plaza: the file is broken at line ")
    assert listed(client) == []
    assert client.get(f"/shops/{SITE}/products/moon-mug").status == 404
    assert (nowhere.returncode, nowhere.stdout) == (1, "")
    assert "title and base_url" in nowhere.stderr
    assert missing.stderr == "script/plaza: none.csv: No such file or directory\n"


@pytest.mark.parametrize("page", ["wordpress", "shopify"])
def test_the_command_of_a_page_brings_a_file_over(plaza: Plaza, page: str) -> None:
    (command,) = re.findall(
        r"^script/plaza (import-(?:pages|products) .*)$",
        (MOVING / f"{page}.md").read_text(),
        re.MULTILINE,
    )
    arguments = shlex.split(command)
    arguments[arguments.index("--site") + 1] = SITE
    (plaza.folder / arguments[-1]).write_bytes(
        wxr(item(1)) if page == "wordpress" else written(MUG)
    )

    done = plaza(*arguments)

    assert done.stdout.startswith("1 of 1 p"), done.stderr


def _grown(plaza: Plaza, command: str, name: str) -> tuple[str, int]:
    """Return the report of an import, and how far its memory has grown, in bytes."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, command, "--site", SITE, "--dry-run", name],
        cwd=ROOT,
        env={**plaza.environment, "PLAZA_CALLED_FROM": str(plaza.folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    report, grown = done.stdout.split("grown ")
    return report, int(grown) * 1_024


def test_memory_does_not_grow_with_the_pages(plaza: Plaza) -> None:
    html = "<!-- wp:paragraph --><p>" + "word " * 900 + "</p>"
    with (plaza.folder / "old.xml").open("w") as file:
        file.write(HEAD.replace("{version}", "1.2"))
        # Most are drafts, which are not rendered: the test takes less long.
        file.writelines(
            item(each, html, wp__status="publish" if each % 50 == 0 else "draft")
            for each in range(NUMBER)
        )
        file.write(FOOT)
    assert (plaza.folder / "old.xml").stat().st_size > MOST_BYTES

    report, grown = _grown(plaza, "import-pages", "old.xml")

    assert report.startswith(f"{NUMBER:,} of {NUMBER:,} pages would be imported\n")
    assert grown < MOST_BYTES


def test_memory_does_not_grow_with_the_products(plaza: Plaza, runtime: Runtime) -> None:
    text = "word " * 900
    with (plaza.folder / "old.csv").open("wb") as file:
        for each in range(NUMBER):
            row = {**MUG, "Handle": f"mug-{each}", "Variant SKU": f"M{each}", "Body (HTML)": text}
            whole = written(row)
            file.write(whole if not each else whole.partition(b"\n")[2])
    assert (plaza.folder / "old.csv").stat().st_size > MOST_BYTES

    report, grown = _grown(plaza, "import-products", "old.csv")

    assert report.startswith(f"{NUMBER:,} of {NUMBER:,} products would be imported\n")
    assert grown < MOST_BYTES
    assert runtime.database["shop.product"].count_documents({}) == 0
