"""Pages of built-ins, regions, cohorts and flags."""

from __future__ import annotations

import uuid

import pytest
from django.test import Client
from django.utils import timezone

from catalog import accounts
from catalog.migrate import regions
from catalog.migrate.builtins import Declared
from catalog.migrate.releases import prepare
from catalog.models import Announcement, BuiltinRelation, FeatureFlag, Item, Region, User
from tests.console.pages.conftest import PASSWORD, run

pytestmark = pytest.mark.django_db
REGION = "local/embedded"
OTHER = "aws/us-east-1"
CHANGE = "/rollout/change/"
TABLES = "mz_catalog.mz_tables"


def _text(browser: Client, path: str) -> str:
    answer = browser.get(path)
    assert answer.status_code == 200, path
    return answer.content.decode()


def _older(name: str, *columns: tuple[str, str]) -> None:
    """Let the region remember a built-in as an older release left it."""
    old = Declared(name, columns)
    BuiltinRelation.objects.filter(name=name).update(
        columns=[list(column) for column in columns], fingerprint=old.fingerprint
    )


def test_a_start_with_nothing_to_do(browser: Client) -> None:
    prepare(REGION)
    assert "nothing to do" in _text(browser, "/builtins")
    assert "No start has changed a built-in yet" in _text(browser, "/builtins")
    status = _text(browser, "/builtins?tab=status&q=mz_tables")
    gid = BuiltinRelation.objects.get(name=TABLES).gid
    assert f">{gid}<" in status
    assert "mz_sources" not in status.partition("<tbody>")[2]


def test_a_start_that_changes_built_ins(browser: Client, owner: User) -> None:
    prepare(REGION)
    run(owner, "CREATE VIEW mine AS SELECT name FROM mz_tables")
    _older(TABLES, ("id", "text"))
    old = BuiltinRelation.objects.get(name=TABLES).gid
    text = _text(browser, "/builtins")
    assert "changes built-ins" in text
    assert "headrace.public.mine" in text
    assert f">{old}<" in text
    assert "column oid added" in text
    assert BuiltinRelation.objects.get(name=TABLES).gid == old
    prepare(REGION)
    past = _text(browser, "/builtins")
    assert f"/migrations/{REGION}/m1" in past
    page = _text(browser, f"/migrations/{REGION}/m1?tab=ids")
    assert f">{old}<" in page
    assert 'data-open="#rollback"' not in page


def test_a_start_that_would_be_refused(browser: Client, owner: User) -> None:
    prepare(REGION)
    run(owner, "CREATE VIEW mine AS SELECT name FROM mz_tables")
    view = Item.objects.get(name="mine")
    view.create_sql = view.create_sql.replace("mz_tables", "mz_no_more")
    view.save()
    Region.objects.update(stamp=uuid.uuid4())
    _older(TABLES, ("id", "text"))
    text = _text(browser, "/builtins")
    assert "would be refused" in text
    assert "headrace.public.mine: it reads mz_catalog.mz_no_more" in text
    assert "Start the former release" in text


def test_a_region_is_made(browser: Client) -> None:
    answer = browser.post(f"{CHANGE}region", {"provider": "aws", "place": "us-east-1"})
    assert answer["Location"] == "/rollout?tab=regions"
    assert OTHER in _text(browser, "/rollout")
    assert "provider <code>aws</code>" in _text(browser, f"/rollout/{OTHER}")
    wrong = browser.post(f"{CHANGE}region", {"provider": "A W S", "place": "x"})
    assert "is not the name of a cloud provider or region" in wrong.content.decode()
    assert 'value="A W S"' in wrong.content.decode()
    assert browser.get("/rollout/aws/nowhere").status_code == 404
    assert browser.post(f"{CHANGE}nothing").status_code == 404


def test_a_cohort_is_made_paused_and_goes_on(browser: Client) -> None:
    form = {"name": "first", "regions": [REGION], "opens": "2030-01-01 02:00"}
    assert "a beginning and an end" in browser.post(f"{CHANGE}cohort", form).content.decode()
    backwards = browser.post(f"{CHANGE}cohort", {**form, "closes": "2030-01-01 01:00"})
    assert "ends before it begins" in backwards.content.decode()
    nonsense = browser.post(f"{CHANGE}cohort", {**form, "closes": "soon"})
    assert "is not a time" in nonsense.content.decode()
    assert regions.cohorts() == ()
    made = browser.post(f"{CHANGE}cohort", {**form, "closes": "2030-01-01 04:00"})
    assert made["Location"] == "/rollout?tab=cohorts"
    text = _text(browser, "/rollout?tab=cohorts")
    assert "waits for its window" in text
    assert "2030-01-01 04:00" in text
    browser.post(f"{CHANGE}pause", {"name": "first", "paused": "1"})
    assert regions.cohorts()[0].paused
    assert "Let cohort first go on" in _text(browser, "/rollout?tab=cohorts")
    browser.post(f"{CHANGE}pause", {"name": "first", "paused": "0"})
    assert not regions.cohorts()[0].paused


def test_people_are_told(browser: Client) -> None:
    browser.post(f"{CHANGE}cohort", {"name": "first", "regions": [REGION]})
    form = {"cohort": "first", "title": "Tables <soon>", "text": "Sources become tables."}
    assert browser.post(f"{CHANGE}announce", form).status_code == 302
    text = _text(browser, "/rollout?tab=announcements")
    assert "Tables &lt;soon&gt;" in text
    assert "Sources become tables." in _text(browser, f"/rollout/{REGION}")
    client = Client()
    client.force_login(accounts.create_user("bob@example.com", PASSWORD, owner=False))
    assert "Sources become tables." in _text(client, "/")
    Announcement.objects.update(closes_at=timezone.now())
    assert "Sources become tables." not in _text(client, "/")
    assert b"needs a title" in browser.post(f"{CHANGE}announce", {"title": "x"}).content


def test_flags_of_new_regions(browser: Client) -> None:
    form = {"name": "force_source_table_syntax", "value": "off"}
    assert browser.post(f"{CHANGE}default", form).status_code == 302
    assert "an operator" in _text(browser, "/rollout?tab=defaults")
    browser.post(f"{CHANGE}region", {"provider": "aws", "place": "us-east-1"})
    flags = FeatureFlag.objects.filter(name="force_source_table_syntax")
    assert dict(flags.values_list("region__name", "value")) == {REGION: "on", OTHER: "off"}
    assert browser.post(f"{CHANGE}default", {**form, "value": ""}).status_code == 302
    assert "an operator" not in _text(browser, "/rollout?tab=defaults")
    assert b"unrecognized" in browser.post(f"{CHANGE}default", {"name": "x"}).content


def test_flags_of_a_region_and_their_history(browser: Client) -> None:
    browser.post(f"{CHANGE}region", {"provider": "aws", "place": "us-east-1"})
    path, name = f"/rollout/{OTHER}", "force_source_table_syntax"
    assert browser.post(f"{path}/flag", {"name": name, "value": "off"})["Location"] == path
    assert FeatureFlag.objects.get(region__name=OTHER, name=name).value == "off"
    assert not FeatureFlag.objects.filter(region__name=REGION, name=name).exists()
    text = _text(browser, path)
    changes = text.partition("How its flags changed")[2]
    assert name in changes
    assert "ada@example.com" in changes
    assert browser.post(f"{path}/flag", {"name": name, "value": ""}).status_code == 302
    assert b"unrecognized" in browser.post(f"{path}/flag", {"name": "x", "value": "on"}).content
