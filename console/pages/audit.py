"""The audit log."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import urlencode

from console.fragments import views
from console.fragments.model import Group
from console.fragments.views import PAGE
from console.visitor import signed_in


@signed_in
def audit(request: HttpRequest) -> HttpResponse:
    """Events, newest first; the newest page is live."""
    asked = {key: request.GET.get(key, "").strip() for key in ("object", "before")}
    page = views.audit(asked)
    rows = page["rows"]
    last = rows.items[-1] if isinstance(rows, Group) and len(rows.items) == PAGE else None
    context = {
        **asked,
        "page": page,
        "older": last.id.removeprefix("audit-") if last else "",
        "live": "" if asked["before"] else urlencode({"view": "audit", "object": asked["object"]}),
    }
    return render(request, "audit/page.html", context)
