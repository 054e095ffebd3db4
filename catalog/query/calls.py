"""sqlglot's many function classes, told as PostgreSQL calls: a name and its arguments."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp


@dataclass(frozen=True)
class Call:
    """`name(args)` as the user wrote it."""

    name: str
    args: tuple[exp.Expr, ...]


_KEYS: dict[type[exp.Expr], tuple[str, tuple[str, ...]]] = {
    exp.Abs: ("abs", ("this",)),
    exp.ArraySize: ("array_length", ("this", "expression")),
    exp.ArrayConcat: ("array_cat", ("this", "expressions")),
    exp.ArrayToString: ("array_to_string", ("this", "expression", "null")),
    exp.Avg: ("avg", ("this",)),
    exp.Ceil: ("ceil", ("this",)),
    exp.Chr: ("chr", ("expressions",)),
    exp.Coalesce: ("coalesce", ("this", "expressions")),
    exp.Concat: ("concat", ("expressions",)),
    exp.ConcatWs: ("concat_ws", ("expressions",)),
    exp.Count: ("count", ("this", "expressions")),
    exp.CountIf: ("count_if", ("this",)),
    exp.CumeDist: ("cume_dist", ()),
    exp.CurrentTimestamp: ("now", ()),
    exp.DenseRank: ("dense_rank", ()),
    exp.Exp: ("exp", ("this",)),
    exp.FirstValue: ("first_value", ("this",)),
    exp.Floor: ("floor", ("this",)),
    exp.Greatest: ("greatest", ("this", "expressions")),
    exp.GroupConcat: ("string_agg", ("this", "separator")),
    exp.Initcap: ("initcap", ("this",)),
    exp.Lag: ("lag", ("this", "offset", "default")),
    exp.LastValue: ("last_value", ("this",)),
    exp.Lead: ("lead", ("this", "offset", "default")),
    exp.Least: ("least", ("this", "expressions")),
    exp.Left: ("left", ("this", "expression")),
    exp.Length: ("length", ("this",)),
    exp.Ln: ("ln", ("this",)),
    exp.Log: ("log", ("this", "expression")),
    exp.LogicalAnd: ("bool_and", ("this",)),
    exp.LogicalOr: ("bool_or", ("this",)),
    exp.Lower: ("lower", ("this",)),
    exp.Max: ("max", ("this",)),
    exp.MD5: ("md5", ("this",)),
    exp.Min: ("min", ("this",)),
    exp.Mod: ("mod", ("this", "expression")),
    exp.NthValue: ("nth_value", ("this", "offset")),
    exp.Ntile: ("ntile", ("this",)),
    exp.Nullif: ("nullif", ("this", "expression")),
    exp.PercentRank: ("percent_rank", ()),
    exp.Pow: ("power", ("this", "expression")),
    exp.Rank: ("rank", ()),
    exp.RegexpReplace: ("regexp_replace", ("this", "expression", "replacement", "modifiers")),
    exp.Repeat: ("repeat", ("this", "times")),
    exp.Replace: ("replace", ("this", "expression", "replacement")),
    exp.Reverse: ("reverse", ("this",)),
    exp.Right: ("right", ("this", "expression")),
    exp.Round: ("round", ("this", "decimals")),
    exp.RowNumber: ("row_number", ()),
    exp.Sign: ("sign", ("this",)),
    exp.SplitPart: ("split_part", ("this", "delimiter", "part_index")),
    exp.Sqrt: ("sqrt", ("this",)),
    exp.StartsWith: ("starts_with", ("this", "expression")),
    exp.Stddev: ("stddev", ("this",)),
    exp.StddevPop: ("stddev_pop", ("this",)),
    exp.StddevSamp: ("stddev_samp", ("this",)),
    exp.StrPosition: ("position", ("this", "substr")),
    exp.Substring: ("substring", ("this", "start", "length")),
    exp.Sum: ("sum", ("this",)),
    exp.TimestampTrunc: ("date_trunc", ("unit", "this")),
    exp.TimeToStr: ("to_char", ("this", "format")),
    exp.ToChar: ("to_char", ("this", "format")),
    exp.Trunc: ("trunc", ("this", "decimals")),
    exp.UnixToTime: ("to_timestamp", ("this",)),
    exp.Upper: ("upper", ("this",)),
    exp.Variance: ("var_samp", ("this",)),
    exp.VariancePop: ("var_pop", ("this",)),
}


def pg_call(node: exp.Expr) -> Call | None:
    """The call that a node stands for, or None when it is not a plain function call."""
    if isinstance(node, exp.Anonymous):
        return Call(str(node.this).lower(), tuple(node.expressions))
    if isinstance(node, exp.Pad):
        name = "lpad" if node.args.get("is_left") else "rpad"
        return Call(name, _arguments(node, ("this", "expression", "fill_pattern")))
    if isinstance(node, exp.Trim):
        name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(
            str(node.args.get("position")), "btrim"
        )
        return Call(name, _arguments(node, ("this", "expression")))
    if isinstance(node, exp.ArrayAgg):
        return Call("array_agg", (node.this,))
    known = _KEYS.get(type(node))
    return Call(known[0], _arguments(node, known[1])) if known else None


def call_classes() -> tuple[type[exp.Expr], ...]:
    """Every node class that `pg_call` may answer for."""
    return (exp.Anonymous, exp.Pad, exp.Trim, exp.ArrayAgg, *_KEYS)


def _arguments(node: exp.Expr, keys: tuple[str, ...]) -> tuple[exp.Expr, ...]:
    found: list[exp.Expr] = []
    for key in keys:
        value = node.args.get(key)
        if isinstance(value, list):
            found += value
        elif isinstance(value, exp.Expr):
            found.append(value)
    return tuple(found)
