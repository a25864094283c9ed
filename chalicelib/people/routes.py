"""The caller's own erasure, export and list of blocks over HTTP."""

from chalice.app import Blueprint

from chalicelib.http import Accepted, Ok, PageQuery, Request, everybody, router
from chalicelib.identity import Principal
from chalicelib.limits import EXPORTS
from chalicelib.people import blocks, export, jobs
from chalicelib.people.blocks import BlockedAnswer
from chalicelib.people.export import ErasureAnswer, ExportAnswer
from chalicelib.people.features import People
from chalicelib.runtime import Runtime


def routes(runtime: Runtime, people: People) -> Blueprint:
    """Return the blueprint of erasure, export and the list of blocks."""
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime, "People")

    @route("DELETE", "/users/me", of_one_site=everybody)
    def erase_me(request: Request, caller: Principal) -> Accepted[ErasureAnswer]:
        """Erase yourself: what you wrote, whom you follow, who follows you, and your name.

        A worker does it in the background; `GET /users/me/erasure` counts what is left. A
        repeated call starts it again.
        """
        people.check_token(request.runtime, caller)
        left = jobs.begin_erasure(request.runtime, people, caller.id)
        return Accepted({"remaining": left, "kept": list(people.kept)})

    @route("GET", "/users/me/erasure", of_one_site=everybody)
    def get_my_erasure(request: Request, caller: Principal) -> Ok[ErasureAnswer]:
        """Count your export's documents, plus 1 during an erasure, and name the texts that stay."""
        left = jobs.told_remaining(request.runtime.database, people, caller.id)
        return Ok({"remaining": left, "kept": list(people.kept)})

    @route("GET", "/users/me/export", limit=EXPORTS, of_one_site=everybody)
    def export_me(request: Request, caller: Principal, query: PageQuery) -> Ok[ExportAnswer]:
        """Read everything that Plaza stores of you, page by page.

        The export has what an erasure would delete: each part once, as it is when its page is read.
        It leaves out texts of others and their private data, such as their blocks against you.
        """
        return Ok(export.page(request.runtime, people, caller.id, query))

    @route("GET", "/users/me/blocked")
    def list_my_blocks(request: Request, caller: Principal) -> Ok[BlockedAnswer]:
        """List whom you have blocked: one list for all sites and features."""
        return Ok(blocks.answer(blocks.list_of(request.runtime.database, caller.id)))

    return blueprint
