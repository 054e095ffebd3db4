"""The command that starts Spark: what it needs is checked before it runs."""

from pathlib import Path

import pytest

from ingest.errors import HeadraceError
from ingest.replicas.endpoint import Endpoint
from ingest.replicas.java import find_java, major_version
from ingest.replicas.local_process import LocalProcess


def test_missing_jars_are_named_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(HeadraceError, match="no Delta jars") as caught:
        LocalProcess(tmp_path, tmp_path, 1).command()
    assert caught.value.hint == "Run `make jars`."


def test_the_class_archive_is_left_once_and_used_ever_after(tmp_path: Path) -> None:
    (tmp_path / "delta-spark_4.2_2.13-4.4.0.jar").touch()
    local = LocalProcess(tmp_path / "home", tmp_path, 1)
    leaving = [word for word in local.command() if word.startswith("-XX:ArchiveClassesAtExit=")]
    if not leaving:
        pytest.skip("this Java cannot archive its classes")
    Path(leaving[0].partition("=")[2]).touch()
    using = [word for word in local.command() if word.startswith("-XX:SharedArchiveFile=")]
    assert len(using) == 1
    assert not any("ArchiveClassesAtExit" in word for word in local.command())


def test_slots_outnumber_cores_and_listening_is_loopback_only(tmp_path: Path) -> None:
    (tmp_path / "delta-spark_4.2_2.13-4.4.0.jar").touch()
    local = LocalProcess(tmp_path / "home", tmp_path, 15002, slots=6)
    assert "local[6]" in local.command()
    assert "spark.connect.grpc.binding.address=127.0.0.1" in local.command()
    assert local.remote == "sc://127.0.0.1:15002"


def test_java_is_found_and_a_wrong_home_is_passed_over(tmp_path: Path) -> None:
    assert major_version(find_java(str(tmp_path))) >= 17
    assert major_version(tmp_path / "java") == 0


@pytest.mark.parametrize("remote", ["http://spark", "sc://", "spark:15002"])
def test_only_spark_connect_addresses_are_taken(remote: str) -> None:
    with pytest.raises(HeadraceError, match="not a Spark Connect address"):
        _ = Endpoint(remote).target


def test_the_default_port() -> None:
    assert Endpoint("sc://spark.example").target == "spark.example:15002"
