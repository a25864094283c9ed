"""The request body by which a site names a member."""

from pydantic import ConfigDict, Field

from chalicelib.http import Input


class SiteMember(Input):
    """Somebody whom a site knows."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "reader-4711"}]})

    name: str = Field(
        min_length=1,
        max_length=200,
        description="What the site calls them, as an account's number. It is not stored.",
    )
