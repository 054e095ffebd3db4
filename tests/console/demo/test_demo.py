"""The demo's upstream is a real PostgreSQL, ready to be replicated, and somebody writes to it."""

import signal
import sys
import time
from pathlib import Path

import psycopg
import pytest
from pytest_django import Settings

from console import demo
from tests.services import process


@pytest.mark.postgres
def test_the_shop_is_replicable_and_busy(settings: Settings, tmp_path: Path) -> None:
    settings.HEADRACE_HOME = tmp_path
    assert demo.demo_status().state == "off"
    demo.request()
    facts = demo.demo_status()
    assert facts.state == "starting"
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "demo"]
    environment = settings.HEADRACE_ENVIRONMENT | {
        "HEADRACE_HOME": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "console.settings",
    }
    tmp_path.chmod(0o755)
    log = tmp_path / "log"
    running = process.start(command, log, environment)
    try:
        process.wait_for(lambda: demo.demo_status().state == "running", running, log)
        with psycopg.connect(
            host=facts.host,
            port=facts.port,
            user=facts.user,
            password=facts.password,
            dbname=facts.database,
            autocommit=True,
        ) as shop:
            assert shop.execute("show wal_level").fetchone() == ("logical",)
            published = shop.execute(
                "select tablename from pg_publication_tables where pubname = %s order by 1",
                (facts.publication,),
            ).fetchall()
            assert {name for (name,) in published} == set(facts.tables)
            before = shop.execute("select max(id) from orders").fetchone()
            deadline = time.monotonic() + 20
            while shop.execute("select max(id) from orders").fetchone() == before:
                assert time.monotonic() < deadline, "nobody buys anything"
                time.sleep(0.2)
    finally:
        process.stop(running)
    assert running.returncode in {0, -signal.SIGKILL}
    assert not process.listens(facts.port)


def test_port_and_password_stay_the_same(settings: Settings, tmp_path: Path) -> None:
    settings.HEADRACE_HOME = tmp_path
    demo.request()
    first = demo.demo_status()
    demo.request()
    assert demo.demo_status() == first
    assert oct((tmp_path / "demo.json").stat().st_mode)[-3:] == "600"
