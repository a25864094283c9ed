"""How long a request waits for a database that may be gone."""

from pymongo import MongoClient

from chalicelib.database import Document

# API Gateway gives up after 29 s, of which a cold start may take several; an election is over
# within 12 s as a rule.
REQUEST_SECONDS = 20.0
# Long enough to find a server that is there again: the driver looks twice a second at most.
SHORT_SECONDS = 1.0


class Outage:
    """What a container knows of an outage of its database.

    The first request waits for an election. Once one has waited in vain, the others of the
    container wait a second each, until the driver has found a server that takes writes: an
    outage would otherwise hold every container for as long as it lasts.
    """

    def __init__(self, client: MongoClient[Document]) -> None:
        self._client = client
        self._is_suspected = False

    def patience(self) -> float:
        """Return for how many seconds the next request may ask the database."""
        if self._is_suspected and self._client.topology_description.has_writable_server():
            self._is_suspected = False
        return SHORT_SECONDS if self._is_suspected else REQUEST_SECONDS

    def suspect(self) -> None:
        """Take note that a request was refused for want of the database or of time."""
        self._is_suspected = True
