"""What every page asks of its request: who is signed in, and how a statement is run for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib.auth import get_user_model
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AbstractBaseUser
from django.http import HttpRequest, HttpResponseBase

from catalog.results import Result, Rows
from catalog.sql import render
from catalog.sql.nodes.statement import Statement
from console import execute
from ingest.errors import HeadraceError

Parameters = ParamSpec("Parameters")
PageView = Callable[Concatenate[HttpRequest, Parameters], HttpResponseBase]


def signed_in(view: PageView[Parameters]) -> PageView[Parameters]:
    """A page for users; everybody else is sent to sign in and back."""
    return wraps(view)(login_required(view))


def user_of(request: HttpRequest) -> Any:
    """The signed-in user."""
    user = request.user
    assert isinstance(user, AbstractBaseUser)  # noqa: S101 (every page is behind `signed_in`)
    assert isinstance(user, get_user_model())  # noqa: S101
    return user


def run(request: HttpRequest, *statements: Statement) -> list[Result]:
    """Render the statements and run them as one text. Raises the first one's error."""
    text = "\n".join(f"{render(statement)};" for statement in statements)
    found: list[Result] = []
    for outcome in execute.run(user_of(request), text):
        if isinstance(outcome, HeadraceError):
            raise outcome
        found.append(outcome)
    return found


def rows_of(results: list[Result]) -> Rows | None:
    """The last result that has rows."""
    return next((result for result in reversed(results) if isinstance(result, Rows)), None)
