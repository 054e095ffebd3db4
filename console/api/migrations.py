"""Migrations: a dry run to look at, approval, apply, rollback; for owners."""

from __future__ import annotations

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.here import region_here
from catalog.migrate import apply, reads, rollback, store
from console.api import examples
from console.api.lists import documented, listing, page
from console.api.shapes.migrations import (
    BlockerSerializer,
    InRegion,
    MigrationDetailSerializer,
    MigrationSerializer,
    NewMigration,
    StepsAsked,
)
from console.fragments.attachment import attachment
from console.visitor import account_owner

_WHAT = OpenApiParameter("what", str, OpenApiParameter.PATH, enum=["dbt", "terraform", "sql"])


def owner(request: Request) -> str:
    """The caller's e-mail; raises PermissionDenied unless they own the account."""
    return account_owner(request.user)


def region_asked(request: Request) -> str:
    """The region that a request is about."""
    asked = InRegion(data=request.query_params)
    asked.is_valid(raise_exception=True)
    return asked.validated_data["region"] or region_here()


class Migrations(viewsets.ViewSet):
    """Changes of whole regions."""

    lookup_value_regex = "m[0-9]+"

    @listing(MigrationSerializer, "migrations", operation_id="listMigrations")
    def list(self, request: Request) -> Response:
        """A region's migrations, the newest first."""
        owner(request)
        rows = reads.migrations(region_asked(request))
        return page(request, rows, MigrationSerializer, lambda row: f"{row.id} {row.state}")

    @documented(
        MigrationSerializer,
        "migrations",
        status=201,
        request=NewMigration,
        operation_id="createMigration",
        examples=examples.MIGRATION,
    )
    def create(self, request: Request) -> Response:
        """Plan a migration: a dry run that changes nothing."""
        user = owner(request)
        shape = NewMigration(data=request.data)
        shape.is_valid(raise_exception=True)
        body = shape.validated_data
        region = body["region"] or region_here()
        made = store.make_plan(region, body["kind"], user)
        return Response(MigrationSerializer(reads.one(region, f"m{made.number}")).data, 201)

    @documented(
        MigrationDetailSerializer,
        "migrations",
        operation_id="getMigration",
        parameters=[StepsAsked],
    )
    def retrieve(self, request: Request, pk: str) -> Response:
        """A migration with a page of its steps, and its history."""
        owner(request)
        asked = StepsAsked(data=request.query_params)
        asked.is_valid(raise_exception=True)
        told = asked.validated_data
        region = told["region"] or region_here()
        found = reads.page(region, pk, told["offset"], told["limit"], told["search"])
        return Response(MigrationDetailSerializer(found).data)

    @listing(BlockerSerializer, "migrations", operation_id="listRollbackBlockers")
    @action(detail=True, methods=["get"], url_path="rollback-blockers")
    def rollback_blockers(self, request: Request, pk: str) -> Response:
        """What is in the way of taking an applied migration back, as things are now."""
        owner(request)
        found = store.migration(region_asked(request), pk)
        rows = rollback.rollback_blockers(found) if found.state == "applied" else ()
        return page(request, rows, BlockerSerializer, lambda row: f"{row.name} {row.problem}")

    @documented(
        MigrationSerializer,
        "migrations",
        request=None,
        operation_id="approveMigration",
        parameters=[InRegion],
    )
    @action(detail=True, methods=["post"])
    def approve(self, request: Request, pk: str) -> Response:
        """Let a plan be applied by itself in the window of its region's cohort."""
        user, region = owner(request), region_asked(request)
        store.approve(region, pk, user)
        return Response(MigrationSerializer(reads.one(region, pk)).data)

    @documented(
        MigrationSerializer,
        "migrations",
        request=None,
        operation_id="pauseMigration",
        parameters=[InRegion],
    )
    @action(detail=True, methods=["post"])
    def pause(self, request: Request, pk: str) -> Response:
        """Keep an approved plan from being applied by itself."""
        user, region = owner(request), region_asked(request)
        store.pause(region, pk, user)
        return Response(MigrationSerializer(reads.one(region, pk)).data)

    @documented(
        MigrationSerializer,
        "migrations",
        request=None,
        operation_id="applyMigration",
        parameters=[InRegion],
    )
    @action(detail=True, methods=["post"])
    def apply(self, request: Request, pk: str) -> Response:
        """Carry a plan out now, whole or not at all; again it goes on after a crash."""
        user, region = owner(request), region_asked(request)
        apply.apply(region, pk, user)
        return Response(MigrationSerializer(reads.one(region, pk)).data)

    @documented(
        MigrationSerializer,
        "migrations",
        request=None,
        operation_id="rollBackMigration",
        parameters=[InRegion],
    )
    @action(detail=True, methods=["post"])
    def rollback(self, request: Request, pk: str) -> Response:
        """Take an applied migration back, all of it, within its retention."""
        user, region = owner(request), region_asked(request)
        rollback.roll_back(region, pk, user)
        return Response(MigrationSerializer(reads.one(region, pk)).data)

    @documented(
        OpenApiTypes.STR,
        "migrations",
        operation_id="downloadMigration",
        parameters=[InRegion, _WHAT],
    )
    @action(detail=True, methods=["get"], url_path="download/(?P<what>[a-z]+)")
    def download(self, request: Request, pk: str, what: str) -> HttpResponse:
        """What to change in dbt or Terraform, or the steps as SQL, as a text to download."""
        owner(request)
        text = reads.download(region_asked(request), pk, what)
        return attachment(text, f"{pk}-{what}.txt")
