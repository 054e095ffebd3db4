"""A product that folds views and tables all the time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.services import product
from tests.services.product import Product


@pytest.fixture
def checked() -> Iterator[Product]:
    """The whole product, in a home of its own."""
    often = {
        "HEADRACE_FOLD_ROWS": "500",
        "HEADRACE_LOG_FILES": "32",
        "HEADRACE_UPKEEP_SECONDS": "20",
    }
    with product.running(**often) as running:
        yield running
