"""One owner at every entrance, and the failures that each tells."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import Any

from django.test import Client

from catalog import accounts
from tests.services import postgres as service

FIELDS = ("message", "detail", "hint", "code")


@dataclass(frozen=True)
class Upstream:
    """Where a connection leads; a case changes one part."""

    host: str
    port: int
    database: str
    user: str = "postgres"
    password: str = service.PASSWORD

    def options(self) -> str:
        return (
            f"HOST '{self.host}', PORT {self.port}, DATABASE '{self.database}', "
            f"USER '{self.user}', PASSWORD SECRET pw"
        )

    def resource(self) -> dict[str, Any]:
        return {
            "name": "pg",
            "host": self.host,
            "port": self.port,
            "upstream_database": self.database,
            "user": self.user,
            "password": {"name": "pw"},
        }


@dataclass
class Entrances:
    """The owner's browser and API client."""

    browser: Client = field(default_factory=Client)
    api: Client = field(default_factory=Client)

    def sql(self, text: str) -> None:
        results = self.post("/api/sql", {"query": text})["results"]
        assert not [one for one in results if "error" in one], results

    def post(self, path: str, body: dict[str, Any]) -> Any:
        return self.api.post(path, body, content_type="application/json").json()

    def told(self, text: str, path: str, body: dict[str, Any]) -> dict[str, str]:
        """The failure of one statement, after seeing that every entrance tells the same."""
        by_sql = self.post("/api/sql", {"query": text})["results"][-1]["error"]
        by_rest = self.post(path, body)["error"]
        shown = {name: by_sql.get(name) for name in FIELDS}
        assert {name: by_rest.get(name) for name in FIELDS} == shown
        page = html.unescape(self.browser.post("/shell/run", {"sql": text}).content.decode())
        assert by_sql["message"] in page
        assert by_sql.get("hint", "") in page
        assert service.PASSWORD not in by_sql["message"] + str(by_sql)
        return {name: text or "" for name, text in shown.items()}


def signed_in() -> Entrances:
    """The owner of an empty region, with the password of the test's PostgreSQL as secret `pw`."""
    user = accounts.create_user("ada@example.com", owner=True)
    made = Entrances()
    made.browser.force_login(user)
    token = accounts.create_token(user, "walk")
    made.api = Client(headers={"Authorization": f"Bearer {token.app_password}"})
    made.sql(f"CREATE SECRET pw AS '{service.PASSWORD}'")
    return made
