"""The elements in WebKit, Safari's engine: read and write, under the strictest policy."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.http_client import Client
from tests.web.support.site import Site
from tests.web.support.webkit import running_webkit

pytestmark = pytest.mark.processes

NODE = "harbour:moon"
# The element is there at once, its content when its script has come.
ROOT = "const root = document.querySelector('plaza-comments').shadowRoot; if (!root) return false; "
COUNT = ROOT.replace("comments", "count")
WRITE = """
const field = root.querySelector('textarea');
if (!field) return false;
field.value = arguments[0];
field.dispatchEvent(new Event('input', {bubbles: true}));
root.querySelector('form button').click();
return true;
"""


def test_a_comment_is_read_and_another_written(
    tmp_path: Path, client: Client, site: Site, token: Callable[..., str]
) -> None:
    admin = client.as_("admin", roles=["admin"])
    assert admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/").status == 201
    client.as_("ben").post(f"/nodes/{NODE}/comments", text="It is **made** of cheese.")
    site.body = f'<plaza-count node="{NODE}"></plaza-count><plaza-comments node="{NODE}">'
    site.token = lambda: token("ann", name="Ann")
    with running_webkit(tmp_path) as browser:
        browser.open(f"{site.address}/")
        browser.wait(f"{ROOT} return root.querySelector('strong')?.textContent === 'made'")
        browser.wait(f"{COUNT} return root.textContent === '1 comment'")

        browser.wait(ROOT + WRITE, "Gouda, *surely*.")

        browser.wait(f"{ROOT} return root.querySelector('em')?.textContent === 'surely'")
    texts = [each["text"] for each in client.get(f"/nodes/{NODE}/comments").json["comments"]]
    assert texts == ["It is **made** of cheese.", "Gouda, *surely*."]
