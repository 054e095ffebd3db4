"""Examples in the OpenAPI schema; the tests send every one of them."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiExample


def _request(name: str, value: object) -> OpenApiExample:
    return OpenApiExample(name, value=value, request_only=True)


SQL = [
    _request("Statements", {"query": "SHOW SOURCES; SHOW TABLES"}),
    _request(
        "With parameters",
        {"queries": [{"query": "SELECT name FROM mz_tables WHERE id = $1", "params": ["u1"]}]},
    ),
    OpenApiExample(
        "Rows",
        value={
            "results": [
                {
                    "tag": "SELECT 1",
                    "rows": [["3"]],
                    "desc": {
                        "columns": [
                            {"name": "count", "type_oid": 20, "type_len": 8, "type_mod": -1}
                        ]
                    },
                    "notices": [],
                }
            ]
        },
        response_only=True,
        status_codes=["200"],
    ),
]
SECRET = [_request("A password", {"name": "shop_password", "value": "correct horse"})]
CONNECTION = [
    _request(
        "PostgreSQL",
        {
            "name": "shop",
            "type": "postgres",
            "host": "db.example.com",
            "port": 5432,
            "upstream_database": "shop",
            "user": "headrace",
            "password": {"name": "shop_password"},
            "ssl_mode": "require",
        },
    )
]
SOURCE = [
    _request(
        "A PostgreSQL publication",
        {
            "name": "shop_source",
            "type": "postgres",
            "connection": {"name": "shop"},
            "publication": "headrace",
        },
    ),
    _request(
        "A load generator",
        {
            "name": "house",
            "type": "load generator",
            "generator": "auction",
            "options": {"TICK INTERVAL": "1s"},
        },
    ),
]
TABLE = [
    _request(
        "From a source",
        {
            "name": "orders",
            "source": {"name": "shop_source"},
            "reference": {"namespace": "public", "name": "orders"},
            "text_columns": ["location"],
        },
    ),
    _request(
        "Plain",
        {
            "name": "limits",
            "columns": [
                {"name": "id", "type": "integer", "primary_key": True},
                {"name": "most", "type": "numeric(12,2)", "nullable": False, "default": 0},
            ],
        },
    ),
]
TABLES = [
    _request(
        "Two from one snapshot",
        {
            "tables": [
                {
                    "name": "bids",
                    "source": {"name": "house"},
                    "reference": {"namespace": "auction", "name": "bids"},
                },
                {
                    "name": "auctions",
                    "source": {"name": "house"},
                    "reference": {"namespace": "auction", "name": "auctions"},
                },
            ]
        },
    )
]
WEBHOOK = [
    _request(
        "Signed",
        {
            "name": "payments",
            "body_format": "json",
            "columns": [{"header": "x-event", "name": "event"}],
            "check": "WITH (HEADERS, BODY, SECRET payments_key) constant_time_eq("
            "headers->'x-signature', encode(hmac(body, payments_key, 'sha256'), 'hex'))",
        },
    )
]
VIEW = [_request("A filter", {"name": "large", "query": "SELECT id FROM limits WHERE most > 10"})]
MATERIALIZED_VIEW = [
    _request(
        "A sum by group",
        {
            "name": "most_by_id",
            "query": "SELECT id, max(most) AS most FROM limits GROUP BY id",
        },
    ),
    _request(
        "Refreshed now and then",
        {
            "name": "hourly",
            "query": "SELECT count(*) AS limits FROM limits",
            "refresh_every": "1 hour",
            "retain_history": "7 days",
        },
    ),
]
REPLACEMENT = [
    _request(
        "Waits for a person",
        {
            "name": "most_by_id_next",
            "target": {"name": "most_by_id"},
            "query": "SELECT id, max(most) AS most FROM limits WHERE most > 0 GROUP BY id",
        },
    ),
    _request(
        "Applies itself within guard rails",
        {
            "name": "most_by_id_more",
            "target": {"name": "most_by_id"},
            "query": "SELECT id, max(most) AS most, count(*) AS n FROM limits GROUP BY id",
            "guard": {
                "automatic": True,
                "max_rows": 10000,
                "max_percent": 2.5,
                "window": "02:00-04:00",
            },
        },
    ),
]
GUARD = [
    _request("Within limits", {"automatic": True, "max_rows": 10000, "max_percent": 2.5}),
    _request("Wait for a person", {"automatic": False}),
]
TOKEN = [_request("For dbt", {"name": "dbt"})]
MIGRATION = [_request("Sources to tables", {"kind": "sources to tables"})]
REGION = [_request("With a warehouse of the installation's", {})]
COHORT = [_request("The first regions", {"name": "first", "regions": ["local/embedded"]})]
ANNOUNCEMENT = [
    _request("To everybody", {"title": "Sources become tables", "text": "Nothing will move."})
]
