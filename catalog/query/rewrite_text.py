"""Text: LIKE, regular expressions, substring; PostgreSQL's positions and first-match rules."""

from __future__ import annotations

from sqlglot import exp

from catalog.errors import NotSupported
from catalog.query.binder import Binder, rule
from catalog.query.build import BOOLEAN, INTEGER, UNKNOWN, Bound, binary, call, number, text, when
from catalog.query.casts import coerce
from catalog.query.names import UnknownFunction, position
from catalog.query.scope import Scope
from catalog.query.types import INTEGERS, is_text
from ingest.contract.types import TEXT


def texts(binder: Binder, nodes: list[exp.Expr], scope: Scope, what: str) -> list[Bound]:
    """Operands that must be text; raises UnknownFunction (42883) for others."""
    bounds = binder.bind_all(nodes, scope)
    for bound, node in zip(bounds, nodes, strict=True):
        if not is_text(bound.type) and bound.type != UNKNOWN:
            kinds = ", ".join(b.type.sql for b in bounds)
            message = f"function {what}({kinds}) does not exist"
            raise UnknownFunction(message, position=position(node))
    return [coerce(bound, TEXT, node) for bound, node in zip(bounds, nodes, strict=True)]


@rule(exp.Like, exp.ILike, exp.Escape)
def like(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """[NOT] LIKE, ILIKE, with ESCAPE."""
    inner = node.this if isinstance(node, exp.Escape) else node
    operator = "ilike" if isinstance(inner, exp.ILike) else "like"
    value, pattern = texts(binder, [inner.this, inner.expression], scope, operator)
    kind = exp.ILike if isinstance(inner, exp.ILike) else exp.Like
    test: exp.Expr = kind(this=value.node, expression=pattern.node)
    if isinstance(node, exp.Escape):
        if not isinstance(node.expression, exp.Literal) or len(node.expression.name) != 1:
            raise binder.unsupported(node)
        test = exp.Escape(this=test, expression=text(node.expression.name))
    test = exp.Paren(this=test)
    return Bound(exp.Not(this=test) if inner.args.get("negate") else test, BOOLEAN)


@rule(exp.RegexpLike, exp.RegexpILike)
def regex(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """`~` and `~*`."""
    value, pattern = texts(binder, [node.this, node.expression], scope, "regexp")
    check_pattern(pattern, node)
    wanted = pattern.node
    if isinstance(node, exp.RegexpILike):
        wanted = call("CONCAT", text("(?i)"), wanted)
    return Bound(call("REGEXP_LIKE", value.node, wanted), BOOLEAN)


def check_pattern(pattern: Bound, node: exp.Expr) -> None:
    """Refuse what PostgreSQL and Java read differently; raises NotSupported."""
    written = pattern.node
    if not isinstance(written, exp.Literal):
        raise NotSupported(
            "regular expressions must be constants for now", position=position(node)
        )
    for special in ("[[", "(?", "\\m", "\\M", "\\y", "\\Y", "***", "\\A", "\\Z", "&&"):
        if special in written.name:
            message = f"{special} in regular expressions is not supported yet"
            raise NotSupported(message, position=position(node))


@rule(exp.RegexpReplace)
def regexp_replace(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """regexp_replace: the first match only, unless the flags say `g`."""
    value, pattern, new = texts(
        binder, [node.this, node.expression, node.args["replacement"]], scope, "regexp_replace"
    )
    check_pattern(pattern, node)
    if not isinstance(new.node, exp.Literal):
        raise NotSupported("the replacement must be a constant", position=position(node))
    modifiers = node.args.get("modifiers")
    flags = modifiers.name if modifiers is not None else ""
    if set(flags) - set("gi"):
        raise binder.unsupported(node)
    replacement = text(_java_replacement(new.node.name))
    wanted = ("(?i)" if "i" in flags else "") + pattern.node.name
    if "g" in flags:
        return Bound(call("REGEXP_REPLACE", value.node, text(wanted), replacement), TEXT)
    return Bound(_first(value.node, wanted, replacement), TEXT)


def _first(value: exp.Expr, wanted: str, replacement: exp.Expr) -> exp.Expr:
    """Replace once: everything up to the first match, the match replaced, the rest."""
    at = call("REGEXP_INSTR", value, text(wanted))
    match = call("REGEXP_SUBSTR", value, text(wanted))
    before = call("SUBSTRING", value, number(1), binary(exp.Sub, at, number(1)))
    after = call("SUBSTRING", value, binary(exp.Add, at, call("LENGTH", match)))
    changed = call("REGEXP_REPLACE", match, text(wanted), replacement)
    joined = call("CONCAT", before, changed, after)
    return when((binary(exp.GT, at, number(0)), joined), other=value)


def _java_replacement(written: str) -> str:
    out, i = "", 0
    while i < len(written):
        char, following = written[i], written[i + 1 : i + 2]
        if char == "\\" and following.isdigit():
            out, i = out + f"${following}", i + 2
        elif char == "\\" and following == "&":
            out, i = out + "$0", i + 2
        else:
            out, i = out + ("\\" + char if char in "$\\" else char), i + 1
    return out


@rule(exp.Substring)
def substring(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """substring by position: what lies before the first character counts against the length."""
    start_node, length_node = node.args.get("start"), node.args.get("length")
    (value,) = texts(binder, [node.this], scope, "substring")
    if start_node is None:
        raise binder.unsupported(node)
    start = binder.bind(start_node, scope)
    if start.type.name not in INTEGERS:
        raise NotSupported("substring by pattern is not supported yet", position=position(node))
    first = call("GREATEST", start.node, number(1))
    if length_node is None:
        return Bound(call("SUBSTRING", value.node, first), TEXT)
    length = binder.bind(length_node, scope)
    kept = call(
        "GREATEST", binary(exp.Sub, binary(exp.Add, start.node, length.node), first), number(0)
    )
    return Bound(call("SUBSTRING", value.node, first, kept), TEXT)


@rule(exp.StrPosition)
def str_position(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """position(x IN y), strpos(y, x)."""
    value, wanted = texts(binder, [node.this, node.args["substr"]], scope, "position")
    return Bound(call("LOCATE", wanted, value), INTEGER)


@rule(exp.Collate)
def collate(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """COLLATE "C": how text is ordered here anyway."""
    if node.expression.name not in ("C", "POSIX", "default"):
        raise binder.unsupported(node)
    return binder.bind(node.this, scope)
