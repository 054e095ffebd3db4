"""The upstream reference that a name means."""

from __future__ import annotations

import difflib

from catalog.errors import InvalidStatement, UnknownItem
from catalog.names import Path, dotted
from catalog.sql.nodes.names import Name
from ingest.contract.upstream import Reference

REQUIRED = "CREATE TABLE .. FROM SOURCE requires a REFERENCE"


def resolve_reference(
    name: Name | None, references: tuple[Reference, ...], source: Path, database: str = ""
) -> Reference:
    """The reference that a name of one to three parts means among what the source offers."""
    if name is None:
        if len(references) == 1:
            return references[0]
        hint = f"Write (REFERENCE name); {_some(references)}"
        raise InvalidStatement(REQUIRED, hint=hint, sqlstate="42601")
    at = name.at if name.at >= 0 else None
    parts = name.parts
    if len(parts) == 3 and parts[0] == database:
        parts = parts[1:]
    found = [
        reference
        for reference in references
        if (reference.namespace, reference.name)[-len(parts) :] == parts
    ]
    if len(found) == 1:
        return found[0]
    shown = dotted(name.parts)
    if found:
        message = (
            f"reference {shown} is ambiguous, "
            "consider specifying an additional layer of qualification"
        )
        names = ", ".join(dotted((one.namespace, one.name)) for one in found[:10])
        raise InvalidStatement(message, detail=f"It could be {names}.", position=at)
    message = f"reference {shown} not found in source"
    raise UnknownItem(
        message,
        detail=f"Source {dotted(source)} has {len(references)} references.",
        hint=_near(shown, references),
        position=at,
    )


def _near(shown: str, references: tuple[Reference, ...]) -> str:
    names = [dotted((reference.namespace, reference.name)) for reference in references]
    near = difflib.get_close_matches(shown, names, n=1, cutoff=0.5)
    if near:
        return f'Did you mean "{near[0]}"?'
    return "Add the table to the publication upstream, then ALTER SOURCE .. REFRESH REFERENCES."


def _some(references: tuple[Reference, ...]) -> str:
    names = ", ".join(dotted((one.namespace, one.name)) for one in references[:5])
    return f"the source offers {names}{', ..' if len(references) > 5 else ''}."
