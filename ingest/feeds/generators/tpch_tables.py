"""The TPC-H tables as Materialize types them, and the words their columns are made of."""

from __future__ import annotations

from ingest.contract.types import BIGINT, TEXT, Type
from ingest.feeds.generators.kind import Table

ORDERS = 5
LINEITEM = 6
_INT = Type("integer")
_MONEY = Type("numeric", 15, 2)
_DATE = Type("date")


def _table(name: str, identity: int, key: tuple[str, ...], columns: dict[str, Type]) -> Table:
    return Table("tpch", name, identity, tuple(columns.items()), key)


TABLES = (
    _table(
        "supplier",
        1,
        ("s_suppkey",),
        {
            "s_suppkey": BIGINT,
            "s_name": TEXT,
            "s_address": TEXT,
            "s_nationkey": BIGINT,
            "s_phone": TEXT,
            "s_acctbal": _MONEY,
            "s_comment": TEXT,
        },
    ),
    _table(
        "part",
        2,
        ("p_partkey",),
        {
            "p_partkey": BIGINT,
            "p_name": TEXT,
            "p_mfgr": TEXT,
            "p_brand": TEXT,
            "p_type": TEXT,
            "p_size": _INT,
            "p_container": TEXT,
            "p_retailprice": _MONEY,
            "p_comment": TEXT,
        },
    ),
    _table(
        "partsupp",
        3,
        ("ps_partkey", "ps_suppkey"),
        {
            "ps_partkey": BIGINT,
            "ps_suppkey": BIGINT,
            "ps_availqty": _INT,
            "ps_supplycost": _MONEY,
            "ps_comment": TEXT,
        },
    ),
    _table(
        "customer",
        4,
        ("c_custkey",),
        {
            "c_custkey": BIGINT,
            "c_name": TEXT,
            "c_address": TEXT,
            "c_nationkey": BIGINT,
            "c_phone": TEXT,
            "c_acctbal": _MONEY,
            "c_mktsegment": TEXT,
            "c_comment": TEXT,
        },
    ),
    _table(
        "orders",
        ORDERS,
        ("o_orderkey",),
        {
            "o_orderkey": BIGINT,
            "o_custkey": BIGINT,
            "o_orderstatus": TEXT,
            "o_totalprice": _MONEY,
            "o_orderdate": _DATE,
            "o_orderpriority": TEXT,
            "o_clerk": TEXT,
            "o_shippriority": _INT,
            "o_comment": TEXT,
        },
    ),
    _table(
        "lineitem",
        LINEITEM,
        ("l_orderkey", "l_linenumber"),
        {
            "l_orderkey": BIGINT,
            "l_partkey": BIGINT,
            "l_suppkey": BIGINT,
            "l_linenumber": _INT,
            "l_quantity": _MONEY,
            "l_extendedprice": _MONEY,
            "l_discount": _MONEY,
            "l_tax": _MONEY,
            "l_returnflag": TEXT,
            "l_linestatus": TEXT,
            "l_shipdate": _DATE,
            "l_commitdate": _DATE,
            "l_receiptdate": _DATE,
            "l_shipinstruct": TEXT,
            "l_shipmode": TEXT,
            "l_comment": TEXT,
        },
    ),
    _table(
        "nation",
        7,
        ("n_nationkey",),
        {"n_nationkey": BIGINT, "n_name": TEXT, "n_regionkey": BIGINT, "n_comment": TEXT},
    ),
    _table(
        "region", 8, ("r_regionkey",), {"r_regionkey": BIGINT, "r_name": TEXT, "r_comment": TEXT}
    ),
)

REGIONS = ("AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST")
NATIONS = (
    ("ALGERIA", 0),
    ("ARGENTINA", 1),
    ("BRAZIL", 1),
    ("CANADA", 1),
    ("EGYPT", 4),
    ("ETHIOPIA", 0),
    ("FRANCE", 3),
    ("GERMANY", 3),
    ("INDIA", 2),
    ("INDONESIA", 2),
    ("IRAN", 4),
    ("IRAQ", 4),
    ("JAPAN", 2),
    ("JORDAN", 4),
    ("KENYA", 0),
    ("MOROCCO", 0),
    ("MOZAMBIQUE", 0),
    ("PERU", 1),
    ("CHINA", 2),
    ("ROMANIA", 3),
    ("SAUDI ARABIA", 4),
    ("VIETNAM", 2),
    ("RUSSIA", 3),
    ("UNITED KINGDOM", 3),
    ("UNITED STATES", 1),
)
SEGMENTS = ("AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY")
PRIORITIES = ("1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW")
INSTRUCTIONS = ("COLLECT COD", "DELIVER IN PERSON", "NONE", "TAKE BACK RETURN")
MODES = ("AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK")
CONTAINERS = ("JUMBO PKG", "LG BOX", "MED BAG", "SM CASE", "WRAP DRUM")
SIZES = ("ECONOMY", "LARGE", "MEDIUM", "PROMO", "SMALL", "STANDARD")
METALS = ("ANODIZED BRASS", "BRUSHED COPPER", "BURNISHED NICKEL", "PLATED STEEL", "POLISHED TIN")
COLOURS = (
    "almond",
    "azure",
    "beige",
    "blush",
    "coral",
    "cream",
    "forest",
    "ivory",
    "lemon",
    "plum",
)
WORDS = (
    "accounts",
    "asymptotes",
    "blithely",
    "carefully",
    "deposits",
    "even",
    "final",
    "furiously",
    "ideas",
    "instructions",
    "ironic",
    "packages",
    "pinto beans",
    "quickly",
    "regular",
    "requests",
    "slyly",
    "special",
    "theodolites",
    "unusual",
)
