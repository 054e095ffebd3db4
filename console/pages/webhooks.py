"""Webhooks: the list, a form that makes one, and one webhook with its URL and deliveries."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from catalog import reads
from catalog.sql.grammar.webhook import check_of
from catalog.sql.nodes.names import Name
from catalog.sql.nodes.webhook import BodyFormat, Check, CreateWebhook
from catalog.sql.render import literal, qualified
from catalog.webhooks.shown import WebhookRow, webhook, webhooks
from console.pages.items import definition, drop_context, name_of, select_all
from console.pages.request import run
from console.visitor import signed_in
from ingest.errors import HeadraceError

FORMATS: dict[str, tuple[BodyFormat, str]] = {
    "json": ("json", "JSON: each value is a row"),
    "json array": ("json array", "JSON: each element of an array is a row"),
    "text": ("text", "Text"),
    "bytes": ("bytes", "Bytes"),
}
ENCODINGS = ("hex", "base64")


@signed_in
def webhook_list(request: HttpRequest) -> HttpResponse:
    """All webhooks; a POST makes one."""
    if request.method == "POST":
        return _create(request)
    return _list(request, {"show_new": "new" in request.GET})


def _list(request: HttpRequest, extra: dict[str, object]) -> HttpResponse:
    context = {
        "rows": webhooks(),
        "formats": [(key, label) for key, (_, label) in FORMATS.items()],
        "encodings": ENCODINGS,
        "secrets": reads.secrets(),
        "given": request.POST,
        **extra,
    }
    return render(request, "webhooks/list.html", context)


def _create(request: HttpRequest) -> HttpResponse:
    name = request.POST.get("name", "").strip()
    statement = CreateWebhook(
        "table",
        Name((name,)),
        FORMATS.get(request.POST.get("format", ""), FORMATS["json"])[0],
        headers=() if request.POST.get("headers") else None,
        check=_check(request),
    )
    try:
        run(request, statement)
    except HeadraceError as error:
        return _list(request, {"error": error, "show_new": True})
    messages.success(request, f"Created webhook {name}")
    made = next((row for row in webhooks() if row.table.item.name == name), None)
    return redirect(f"/webhooks/{made.table.item.id}" if made else "/webhooks")


def _check(request: HttpRequest) -> Check | None:
    """The usual check: a header holds the hash of the body under the chosen secret."""
    secret = next((i for i in reads.secrets() if i.id == request.POST.get("secret")), None)
    if secret is None:
        return None
    header = request.POST.get("header", "").strip().lower() or "x-signature"
    encoding = request.POST.get("encoding", "")
    encoding = encoding if encoding in ENCODINGS else ENCODINGS[0]
    words = (
        "WITH (HEADERS, BODY BYTES, SECRET",
        qualified(name_of(secret)),
        "AS key BYTES) constant_time_eq(headers ->",
        literal(header),
        ", encode(hmac(body, key, 'sha256'),",
        literal(encoding),
        "))",
    )
    return check_of(" ".join(words))


@signed_in
def webhook_page(request: HttpRequest, item_id: str) -> HttpResponse:
    """One webhook: where to send to and how, what arrived, and its definition."""
    row = _row(item_id)
    context = {
        "row": row,
        "query": select_all(row.table.item),
        "definition": definition(row.table.item),
        **drop_context(row.table.item),
    }
    return render(request, "webhooks/page.html", context)


@signed_in
def deliveries(request: HttpRequest, item_id: str) -> HttpResponse:
    """The newest deliveries, fetched again and again."""
    return render(request, "webhooks/deliveries.html", {"row": _row(item_id)})


def _row(item_id: str) -> WebhookRow:
    found = webhook(item_id)
    if found is None:
        raise Http404
    return found
