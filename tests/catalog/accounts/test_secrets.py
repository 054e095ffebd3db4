"""App-specific passwords: the seed's encoding and its other forms; what is kept of one."""

import base64
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.accounts.secrets import Credentials, decode, encode, fingerprint, matches

PAIRS = [
    (
        "mzp_7ce3c1e8ea854594ad5d785f17d1736f1947fdcef5404adb84a47347e5d30c9f",
        "mzp_fOPB6OqFRZStXXhfF9FzbxlH_c71QErbhKRzR-XTDJ8",
    ),
    (
        "mzp_0445db36-5826-41af-84f6-e09402fc6171:a0c11434-07ba-426a-b83d-cc4f192325a3",
        "mzp_BEXbNlgmQa-E9uCUAvxhcaDBFDQHukJquD3MTxkjJaM",
    ),
]
SEED = "iTZ3wqdMTsuATTt_oMYf3GgQTaI0F0QuphTweNrEcL4"
credentials = st.builds(Credentials, st.uuids(), st.uuids())


@pytest.mark.parametrize(("spelled", "packed"), PAIRS)
def test_vectors(spelled: str, packed: str) -> None:
    assert decode(spelled) == decode(packed) is not None
    assert decode(spelled) == decode(packed + "=")
    assert "mzp_" + encode(decode(spelled)) == packed  # type: ignore[arg-type]


def test_the_seeds_example() -> None:
    expected = Credentials(
        uuid.UUID("893677c2-a74c-4ecb-804d-3b7fa0c61fdc"),
        uuid.UUID("68104da2-3417-442e-a614-f078dac470be"),
    )
    assert encode(expected) == SEED
    assert decode(SEED) == decode(f"mzp_{SEED}") == decode(f" {SEED}\n") == expected


@given(credentials)
def test_every_form_reads_back(given_: Credentials) -> None:
    text = encode(given_)
    packed = given_.client_id.bytes + given_.secret.bytes
    assert text == base64.urlsafe_b64encode(packed).decode().rstrip("=")
    assert len(text) == 43
    assert decode(text) == decode(f"mzp_{given_.client_id}:{given_.secret}") == given_
    assert decode(packed.hex().upper()) == given_


@given(st.text(max_size=300))
def test_nothing_else_is_one_or_breaks(text: str) -> None:
    found = decode(text)
    assert found is None or isinstance(found, Credentials)


@pytest.mark.parametrize("text", ["", "mzp_", "short", "a" * 42, "a" * 45, "ab" * 200, "é" * 43])
def test_refused(text: str) -> None:
    assert decode(text) is None


@given(credentials, credentials)
def test_only_the_secret_itself_matches(one: Credentials, other: Credentials) -> None:
    kept = fingerprint(one)
    assert matches(one, kept)
    assert one.secret.hex not in kept
    assert matches(other, kept) == (one == other)
    assert "secret" not in repr(one)
