"""Whole products that several walks share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.services import product
from tests.services.product import Product
from tests.walks.entrances import Entrances, signed_in


@pytest.fixture(scope="session")
def busy_product() -> Iterator[Product]:
    """A product that folds tails and joins logs all the time: early, and every few seconds."""
    often = {
        "HEADRACE_FOLD_ROWS": "500",
        "HEADRACE_LOG_FILES": "8",
        "HEADRACE_UPKEEP_SECONDS": "5",
    }
    with product.running(**often) as running:
        yield running


@pytest.fixture
def entrances(transactional_db: None) -> Entrances:
    """The owner of an empty region, at every entrance."""
    return signed_in()
