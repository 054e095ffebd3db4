"""The command that starts Spark: what it needs is checked before it runs."""

import os
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


def test_what_killed_servers_left_behind_goes(tmp_path: Path) -> None:
    """But not what a server has whose process lives."""
    (tmp_path / "delta-spark_4.2_2.13-4.4.0.jar").touch()
    scratch = tmp_path / "home" / "scratch"
    local, gone = LocalProcess(tmp_path / "home", tmp_path, 15002), 2**22 + 1
    kept = scratch / f"{os.getppid()}-15002"
    own, dead, older = (
        scratch / f"{os.getpid()}-15002",
        scratch / f"{gone}-1",
        scratch / "blockmgr-1",
    )
    for folder in (kept, own, dead, older):
        folder.mkdir(parents=True)
        (folder / "block").touch()
    (scratch / "library.so").touch()
    assert f"-Djava.io.tmpdir={own}" in local.command()
    assert sorted(scratch.iterdir()) == sorted([kept, own])
    assert (list(own.iterdir()), [file.name for file in kept.iterdir()]) == ([], ["block"])


def test_java_is_found_and_a_wrong_home_is_passed_over(tmp_path: Path) -> None:
    assert major_version(find_java(str(tmp_path))) >= 17
    assert major_version(tmp_path / "java") == 0


@pytest.mark.parametrize("remote", ["http://spark", "sc://", "spark:15002"])
def test_only_spark_connect_addresses_are_taken(remote: str) -> None:
    with pytest.raises(HeadraceError, match="not a Spark Connect address"):
        _ = Endpoint(remote).target


def test_the_default_port() -> None:
    assert Endpoint("sc://spark.example").target == "spark.example:15002"
