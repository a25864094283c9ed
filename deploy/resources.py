"""The API's resources: the greedy resource, and a resource for each path of `OWN_RESOURCES`.

API Gateway matches a call to the most specific resource, and Plaza matches a path of the greedy one
to its route: docs/decisions/0222.
"""

import copy
import re
from typing import Any

from chalicelib.http.front import GREEDY
from deploy.intrinsics import when

# The paths that have a resource of their own, and why. Calls of them need no key.
OWN_RESOURCES = {
    "/": "the greedy path takes all paths but this",
    "/docs": "a browser opens the address, and sends no key",
    "/docs/{file}": "a page loads the file, and sends no key",
    "/openapi.json": "the page of the reference loads it, and sends no key",
    "/console": "a browser opens the address, and sends no key",
    "/console/{file}": "a page loads the file, and sends no key",
    "/web/{version}/{file}": "pages of other sites load the file, and send no key",
    "/assets/{asset}": "pages show the image by its address, without a key",
    "/assets/{asset}/{number}": "pages show the image by its address, without a key",
}
_ANY = "x-amazon-apigateway-any-method"
_INTEGRATION = "x-amazon-apigateway-integration"


def with_few_resources(template: dict[str, Any]) -> dict[str, Any]:
    """Return a SAM template whose API has these resources in place of one for each route.

    Chalice writes a path for each route, and its merge can only add. All of them call one function.
    """
    changed = copy.deepcopy(template)
    definition = changed["Resources"]["RestAPI"]["Properties"]["DefinitionBody"]
    integration = definition["paths"]["/"]["get"][_INTEGRATION]
    # `ANY`, so that no method of an own resource falls to the greedy one, which needs a key.
    own = {path: {_ANY: _method(path, integration)} for path in OWN_RESOURCES}
    needs_key = {"security": when("RequiresApiKey", [{"api_key": []}])}
    everything = {
        _ANY: {**_method(GREEDY, integration), **needs_key},
        # A browser's preflight sends no key.
        "options": _method(GREEDY, integration),
    }
    definition["paths"] = {**own, GREEDY: everything}
    return changed


def _method(path: str, integration: Any) -> dict[str, Any]:
    names = re.findall(r"{(\w+)\+?}", path)
    return {
        "parameters": [
            {"name": name, "in": "path", "required": True, "type": "string"} for name in names
        ],
        "responses": {},
        _INTEGRATION: integration,
    }
