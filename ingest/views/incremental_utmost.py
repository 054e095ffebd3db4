"""Whether least and greatest values can have gone, found in this process."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from ingest.contract.views import MZ_DIFF, Block, Fold
from ingest.tables.view_near import matched
from ingest.views.incremental_states import uncounted

_CAME, _WENT, _KNOWN = "came", "went", "known"


def safe(block: Block, changes: pa.Table, stored: pa.Table) -> bool:
    """Whether no group of `changes` need be read again, by the rule of
    `incremental_states.following`.

    `changes` are `near.Near`'s, `stored` the rows of their groups by place. False also where only
    Spark can tell.
    """
    if uncounted(block):
        return False
    utmost = [each for each in block.folds if each.how in ("min", "max")]
    try:
        return all(_safe(block, each, changes, stored) for each in utmost)
    # What cannot be grouped, compared or cast here Spark can.
    except (KeyError, pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return False


def _safe(block: Block, each: Fold, changes: pa.Table, stored: pa.Table) -> bool:
    key = list(block.key)
    came, went = netted(block, each, changes)
    if went.num_rows == 0:
        return True
    known = stored.select([f"c{block.columns.index(name)}" for name in block.output_key])
    value = stored[f"c{block.columns.index(each.column)}"]
    if not plain(value.type) or not plain(went[each.value].type):
        return False
    kinds = pa.schema(list(zip(key, known.schema.types, strict=True)))
    sides = [
        _keyed(_utmost(rows, key, each), kinds, name)
        for name, rows in ((_WENT, went), (_CAME, came))
    ]
    held = _keyed(known.rename_columns(key).append_column(each.value, value), kinds, _KNOWN)
    return _none_gone(each, [*sides, held])


def netted(block: Block, each: Fold, changes: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Key and value of what came, and of what went, without what did both."""
    names = [*block.key, each.value]
    summed = changes.select([*names, MZ_DIFF]).group_by(names).aggregate([(MZ_DIFF, "sum")])
    diffs, there = summed[f"{MZ_DIFF}_sum"], pc.is_valid(summed[each.value])
    came = summed.filter(pc.and_(there, pc.greater(diffs, 0)))
    went = summed.filter(pc.and_(there, pc.less(diffs, 0)))
    return came.select(names), went.select(names)


def plain(kind: pa.DataType) -> bool:
    """Whether Arrow compares values of the type as Spark does."""
    return any(
        test(kind) for test in (pa.types.is_integer, pa.types.is_decimal, pa.types.is_date32)
    )


def _utmost(rows: pa.Table, key: Sequence[str], each: Fold) -> pa.Table:
    found = rows.group_by(key).aggregate([(each.value, each.how)])
    return found.select([*key, f"{each.value}_{each.how}"])


def _keyed(rows: pa.Table, kinds: pa.Schema, name: str) -> pa.Table:
    """Keys as a join takes them, and the last column of the rows as `name`."""
    return matched(rows.select(kinds.names).cast(kinds)).append_column(name, rows[-1])


def _none_gone(each: Fold, sides: Sequence[pa.Table]) -> bool:
    """Whether every value that went was not the utmost, or something as good came."""
    went, came, known = sides
    names = went.column_names[:-1]
    whole = went
    for other in (came, known):
        whole = whole.join(other, names, join_type="left outer", use_threads=False)
    before, after = (
        (pc.less, pc.less_equal) if each.how == "max" else (pc.greater, pc.greater_equal)
    )
    apart = pc.fill_null(before(whole[_WENT], whole[_KNOWN]), False)  # noqa: FBT003
    better = pc.fill_null(after(whole[_WENT], whole[_CAME]), False)  # noqa: FBT003
    return bool(pc.all(pc.or_(apart, better)).as_py())
