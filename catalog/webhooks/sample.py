"""How to call a webhook: a shell script that passes its check, to copy."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from catalog.sql.nodes.webhook import Call, Cast, Check, CreateWebhook, Expression, Input, Value

_BODIES = {
    "text": "hello",
    "json": '{"id": 1, "event": "hello"}',
    "json array": '[{"id": 1}, {"id": 2}]',
    "bytes": "hello",
}
_TYPES = {"text": "text/plain", "bytes": "application/octet-stream"}


@dataclass(frozen=True)
class _Signature:
    """A header that holds a hash of the whole body under a secret."""

    header: str
    secret: str
    algorithm: str
    encoding: str
    prefix: str = ""


def sample(statement: CreateWebhook, url: str) -> str:
    """Commands for a shell. `$SECRET` stands for the secret's value, which nobody can look up."""
    body = _BODIES[statement.body]
    lines = [f"BODY={shlex.quote(body)}"]
    headers = {"content-type": shlex.quote(_TYPES.get(statement.body, "application/json"))}
    check = statement.check
    signature = _signature(check) if check else None
    if check and any(one.kind == "secret" for one in check.inputs):
        lines.append("SECRET='…'")
    if signature is not None:
        lines.append(_signing(signature))
        headers[signature.header] = f'"{signature.prefix}$SIGNATURE"'
    for name, value in _others(check) if check else ():
        headers.setdefault(name, value)
    for one in statement.mapped:
        headers.setdefault(one.header, "'…'")
    lines.append(f'curl {shlex.quote(url)} --data-binary "$BODY" \\')
    lines += [_header(name, value) + " \\" for name, value in headers.items()]
    lines[-1] = lines[-1].removesuffix(" \\")
    return "\n".join(lines)


def _header(name: str, value: str) -> str:
    quote = value[0] if value[0] in "\"'" else "'"
    inner = value[1:-1] if value[0] in "\"'" else value
    return f"  --header {quote}{name}: {inner}{quote}"


def _signing(signature: _Signature) -> str:
    digest = f'openssl dgst -{signature.algorithm} -hmac "$SECRET"'
    shown = f"{digest} -binary | base64" if signature.encoding == "base64" else f"{digest} -r"
    cut = "" if signature.encoding == "base64" else " | cut -d ' ' -f 1"
    return f"SIGNATURE=$(printf '%s' \"$BODY\" | {shown}{cut})"


def _signature(check: Check) -> _Signature | None:
    """What the check compares a header with, where that is the usual thing."""
    bodies = {one.name for one in check.inputs if one.kind == "body"}
    secrets = {one.name for one in check.inputs if one.kind == "secret"}
    for left, right in _compared(check.expression):
        for header_side, made_side in ((left, right), (right, left)):
            header, decoded = _header_of(header_side, check)
            found = _hmac(made_side, bodies, secrets)
            if header and found is not None:
                secret, algorithm, encoding, prefix = found
                return _Signature(header, secret, algorithm, decoded or encoding, prefix)
    return None


def _compared(expression: Expression) -> Iterator[tuple[Expression, Expression]]:
    if isinstance(expression, Call):
        if expression.name in {"constant_time_eq", "="} and len(expression.arguments) == 2:
            yield expression.arguments[0], expression.arguments[1]
        for argument in expression.arguments:
            yield from _compared(argument)


def _header_of(expression: Expression, check: Check) -> tuple[str, str]:
    """The header that the expression is, and the encoding that it is decoded from."""
    headers = {one.name for one in check.inputs if one.kind == "headers"}
    match expression:
        case Call("decode", (inner, Value(str(encoding)))):
            return _header_of(inner, check)[0], encoding
        case Call("->", (Input(name), Value(str(header)))) if name in headers:
            return header, ""
        case Cast(inner, _):
            return _header_of(inner, check)
        case _:
            return "", ""


def _hmac(
    expression: Expression, bodies: set[str], secrets: set[str]
) -> tuple[str, str, str, str] | None:
    """Secret, algorithm, encoding and what stands before, of a hash of the body alone."""
    match expression:
        case Call("||", (Value(str(prefix)), made)):
            found = _hmac(made, bodies, secrets)
            return None if found is None else (*found[:3], prefix + found[3])
        case Call("encode", (made, Value(str(encoding)))):
            found = _hmac(made, bodies, secrets)
            return None if found is None else (found[0], found[1], encoding, found[3])
        case Call("hmac", (Input(body), Input(secret), Value(str(algorithm)))):
            fits = body in bodies and secret in secrets
            return (secret, algorithm, "hex", "") if fits else None
        case _:
            return None


def _others(check: Check) -> Iterator[tuple[str, str]]:
    """The other headers that the check looks at; one that is a secret itself gets its value."""
    secrets = {one.name for one in check.inputs if one.kind == "secret"}
    for left, right in _compared(check.expression):
        for one, other in ((left, right), (right, left)):
            header, _ = _header_of(one, check)
            if header and isinstance(other, Input) and other.name in secrets:
                yield header, '"$SECRET"'
    yield from ((header, "'…'") for header in _headers_in(check.expression, check))


def _headers_in(expression: Expression, check: Check) -> Iterator[str]:
    header, _ = _header_of(expression, check)
    if header:
        yield header
    elif isinstance(expression, Call):
        for argument in expression.arguments:
            yield from _headers_in(argument, check)
    elif isinstance(expression, Cast):
        yield from _headers_in(expression.value, check)
