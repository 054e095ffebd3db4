"""What cannot mean the same on Spark is refused with its SQLSTATE, never answered wrongly."""

from __future__ import annotations

import pytest

from ingest.errors import HeadraceError
from tests.catalog.query.shop import compiled, lines

CASES = lines("refused.sql", 3)


@pytest.mark.parametrize(("state", "name", "sql"), CASES, ids=[case[1] for case in CASES])
def test_refused(state: str, name: str, sql: str) -> None:
    with pytest.raises(HeadraceError) as failure:
        compiled(sql)
    assert failure.value.sqlstate == state
