"""Which upstream hosts may be reached: one place against request forgery.

The host is resolved once, every address is checked, and the connection goes to the address that
was checked.
"""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import replace

from django.conf import settings

from catalog.errors import PermissionDenied, UpstreamProblem
from ingest.contract.upstream import PostgresTarget

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_NEVER = tuple(
    ipaddress.ip_network(network)
    for network in ("169.254.0.0/16", "fe80::/10", "fd00:ec2::254/128", "0.0.0.0/32", "::/128")
)


def admitted(target: PostgresTarget) -> PostgresTarget:
    """The target with the address to connect to; raises PermissionDenied for a denied one and
    UpstreamProblem for a host that does not resolve."""
    host = target.host
    if host.startswith(("/", "@")) or "," in host or "\0" in host:
        message = f'host "{host}" is not a network host'
        raise PermissionDenied(message, hint="Give one host name or IP address.")
    addresses = _resolve(target)
    for address in addresses:
        if _denied(host, address):
            message = f'connections to host "{host}" are not allowed'
            raise PermissionDenied(
                message,
                detail="The address is denied by this installation's upstream policy.",
                hint="An operator can allow it with HEADRACE_UPSTREAM_ALLOW.",
            )
    return replace(target, address=str(addresses[0]))


def _resolve(target: PostgresTarget) -> list[_Address]:
    try:
        found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        message = f'could not resolve host "{target.host}"'
        hint = "Check the spelling of HOST, and that this machine's DNS knows it."
        raise UpstreamProblem(message, hint=hint, sqlstate="08001") from None
    addresses = [ipaddress.ip_address(str(entry[4][0]).split("%")[0]) for entry in found]
    return [_unmapped(address) for address in addresses]


def _unmapped(address: _Address) -> _Address:
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _denied(host: str, address: _Address) -> bool:
    if any(_matches(rule, host, address) for rule in settings.HEADRACE_UPSTREAM_ALLOW):
        return False
    if address.is_multicast or any(address in network for network in _NEVER):
        return True
    return any(_matches(rule, host, address) for rule in settings.HEADRACE_UPSTREAM_DENY)


def _matches(rule: str, host: str, address: _Address) -> bool:
    """Whether a rule (an address, a network or a host name, `*.domain` too) covers the host."""
    try:
        network = ipaddress.ip_network(rule, strict=False)
    except ValueError:
        name = rule.lower()
        suffix = name[1:] if name.startswith("*.") else None
        return host.lower() == name or bool(suffix and host.lower().endswith(suffix))
    return address in network
