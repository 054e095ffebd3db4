"""The tables of a running feed: where each stands, what its readers may see, why it failed."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from pyarrow import fs

from ingest import delta
from ingest.commits import located
from ingest.contract.commands import Export
from ingest.contract.plane import Plane
from ingest.contract.reports import ExportReport, Phase
from ingest.errors import HeadraceError, Terminal


@dataclass
class _State:
    export: Export
    report: ExportReport
    position: int = -1
    changed: bool = True
    counted: bool = False


class Exports:
    """Safe from any thread. A table that failed for good stays so over restarts: its failure is
    kept beside its data, because changes have passed it by."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._states: dict[str, _State] = {}
        self._lock = threading.RLock()

    def update(self, wanted: Iterable[Export]) -> tuple[list[Export], list[Export]]:
        """Take over the definition's tables; which of them are new, and which gone."""
        by_table = {export.table: export for export in wanted}
        with self._lock:
            gone = [self._states.pop(t).export for t in list(self._states) if t not in by_table]
            fresh = [export for table, export in by_table.items() if table not in self._states]
            for export in fresh:
                self._states[export.table] = self._found(export)
            return fresh, gone

    def unhydrated(self) -> list[Export]:
        """The tables that still need their snapshot."""
        with self._lock:
            return [
                s.export
                for s in self._states.values()
                if s.position < 0 and s.report.status != "failed"
            ]

    def logged(self, reference: int) -> list[Export]:
        """The tables that need the changes of `reference`."""
        return [export for export in self.alive() if export.reference == reference]

    def alive(self) -> list[Export]:
        """The tables that have not failed."""
        with self._lock:
            return [s.export for s in self._states.values() if s.report.status != "failed"]

    def waits(self) -> bool:
        """Whether a table has its snapshot and waits for the log to reach it."""
        with self._lock:
            return any(s.report.phase == "catch up" for s in self._states.values())

    def has(self, table: str) -> bool:
        """Whether the table still is wanted and sound."""
        with self._lock:
            state = self._states.get(table)
            return state is not None and state.report.status != "failed"

    def progress(self, table: str, phase: Phase, **fields: int) -> None:
        """A table came further in its snapshot; `fields` are counts of `ExportReport`."""
        self._change(table, status="starting", phase=phase, error="", detail="", **fields)

    def stalled(self, table: str, error: HeadraceError) -> None:
        """A table's snapshot will be tried again."""
        self._change(table, status="stalled", **_told(error))

    def hydrated(self, table: str, position: int) -> None:
        """A table's base holds everything up to upstream `position`."""
        with self._lock:
            if table in self._states:
                self._states[table].position = position
        self._change(table, status="starting", phase="catch up", error="", detail="", hint="")

    def explain(self, phase: Phase, ask: Callable[[], str]) -> None:
        """Let `ask` say what the tables in `phase` wait for; it is only asked if there are any."""
        with self._lock:
            waiting = [t for t, s in self._states.items() if s.report.phase == phase]
        if waiting:
            reason = ask()
            for table in waiting:
                self._change(table, detail=reason)

    def fail(self, table: str, error: HeadraceError) -> None:
        """A table cannot go on, for good; others do."""
        with self._lock:
            if table not in self._states:
                return
            reason = {"error": error.message, "detail": error.detail, "hint": error.hint}
            system, path = self._failure_file(self._states[table].export)
            system.create_dir(path.rpartition("/")[0])
            with system.open_output_stream(path) as file:
                file.write(json.dumps(reason).encode())
        self._change(table, status="failed", **_told(error))

    def advance(self, time: int, upto: int, counts: Mapping[str, int]) -> None:
        """The log is complete up to `upto` at `time`; `counts` are the new rows by reference."""
        with self._lock:
            for table, state in self._states.items():
                count = counts.get(str(state.export.reference), 0)
                if state.report.phase == "catch up" and upto >= state.position >= 0:
                    first = state.report.readable_from or time
                    self._change(table, status="running", phase="running", readable_from=first)
                if count and state.report.status != "failed":
                    total = state.report.updates_committed + count
                    state.report = replace(state.report, updates_committed=total)
                    state.counted = True

    def reports(self, *, counts: bool) -> tuple[ExportReport, ...]:
        """The tables that changed since the last call; `counts` adds those that only counted."""
        with self._lock:
            found = []
            for state in self._states.values():
                if state.changed or (counts and state.counted):
                    state.changed = state.counted = False
                    found.append(state.report)
            return tuple(found)

    def base_position(self, export: Export) -> int | None:
        """The position of the newest frontier in the base, None before the snapshot is whole."""
        path = delta.base_path(self._plane, export.shard)
        found = delta.find(path, lambda version: '"frontier_position"' in version.metadata)
        return int(json.loads(found.metadata)["frontier_position"]) if found else None

    def _found(self, export: Export) -> _State:
        state = _State(export, ExportReport(export.table, "starting"))
        failure = self._former_failure(export)
        if failure is not None:
            state.report = replace(state.report, status="failed", **_told(failure))  # type: ignore[arg-type]
        elif (position := self.base_position(export)) is not None:
            state.position = position
            state.report = replace(state.report, phase="catch up")
        return state

    def _former_failure(self, export: Export) -> HeadraceError | None:
        system, path = self._failure_file(export)
        try:
            with system.open_input_stream(path) as file:
                fields = json.loads(file.read())
        except FileNotFoundError:
            return None
        return Terminal(fields["error"], detail=fields["detail"], hint=fields["hint"])

    def _failure_file(self, export: Export) -> tuple[fs.FileSystem, str]:
        base = delta.base_path(self._plane, export.shard)
        system, root = located(base)
        return system, f"{root.rpartition('/')[0]}/failure.json"

    def _change(self, table: str, **fields: object) -> None:
        with self._lock:
            state = self._states.get(table)
            if state is not None:
                state.report = replace(state.report, **fields)  # type: ignore[arg-type]
                state.changed = True


def _told(error: HeadraceError) -> dict[str, str]:
    return {"error": error.message, "detail": error.detail or "", "hint": error.hint or ""}
