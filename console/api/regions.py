"""Regions, cohorts, announcements, and what flags are in new regions; for owners."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from catalog.migrate import regions, rollout
from console.api import examples
from console.api.lists import documented, listing, page
from console.api.migrations import owner
from console.api.shapes.migrations import (
    AnnouncementSerializer,
    CohortSerializer,
    FlagChangeSerializer,
    FlagDefaultSerializer,
    NewAnnouncement,
    NewRegion,
    RegionSerializer,
)

_PROVIDER = OpenApiParameter("provider", str, OpenApiParameter.PATH, description="Such as aws.")
_PLACE = OpenApiParameter("place", str, OpenApiParameter.PATH, description="Such as us-east-1.")


class RegionView(APIView):
    """One region by its cloud provider and place."""

    @documented(
        RegionSerializer,
        "regions",
        request=NewRegion,
        operation_id="enableRegion",
        parameters=[_PROVIDER, _PLACE],
        examples=examples.REGION,
    )
    def put(self, request: Request, provider: str, place: str) -> Response:
        """Enable a region: a catalog, flags and a warehouse of its own. Again it is found."""
        user = owner(request)
        shape = NewRegion(data=request.data or {})
        shape.is_valid(raise_exception=True)
        made = rollout.enable_region(provider, place, user, shape.validated_data["warehouse"])
        found = RegionSerializer(regions.region(made.region)).data
        return Response(found, 201 if made.made else 200)

    @documented(
        RegionSerializer, "regions", operation_id="getRegion", parameters=[_PROVIDER, _PLACE]
    )
    def get(self, request: Request, provider: str, place: str) -> Response:
        """One region, with what of it is still in the old form."""
        owner(request)
        return Response(RegionSerializer(regions.region(f"{provider}/{place}")).data)


class RegionFlags(APIView):
    """The history of a region's flags."""

    @listing(FlagChangeSerializer, "regions", operation_id="listFlagChanges")
    def get(self, request: Request, provider: str, place: str) -> Response:
        """Changes of a region's flags, the newest first."""
        owner(request)
        rows = regions.flag_history(regions.region(f"{provider}/{place}").name)
        return page(request, rows, FlagChangeSerializer, lambda row: f"{row.name} {row.user}")


class Regions(viewsets.ViewSet):
    """All regions of the account."""

    @listing(RegionSerializer, "regions", operation_id="listRegions")
    def list(self, request: Request) -> Response:
        """All regions."""
        owner(request)
        return page(request, regions.regions(), RegionSerializer, lambda row: row.name)


class Cohorts(viewsets.ViewSet):
    """Regions that a migration reaches together."""

    lookup_value_regex = "[^/]+"

    @listing(CohortSerializer, "regions", operation_id="listCohorts")
    def list(self, request: Request) -> Response:
        """All cohorts."""
        owner(request)
        return page(request, regions.cohorts(), CohortSerializer, lambda row: row.name)

    @documented(
        CohortSerializer,
        "regions",
        status=201,
        request=CohortSerializer,
        operation_id="createCohort",
        examples=examples.COHORT,
    )
    def create(self, request: Request) -> Response:
        """Make a cohort, or give one other regions and another window."""
        owner(request)
        shape = CohortSerializer(data=request.data)
        shape.is_valid(raise_exception=True)
        body = shape.validated_data
        rollout.set_cohort(body["name"], tuple(body["regions"]))
        rollout.set_window(body["name"], body["opens_at"], body["closes_at"])
        rollout.pause_cohort(body["name"], paused=body["paused"])
        return Response(_cohort(body["name"]), 201)

    @documented(CohortSerializer, "regions", request=None, operation_id="pauseCohort")
    @action(detail=True, methods=["post"])
    def pause(self, request: Request, pk: str) -> Response:
        """Stop a cohort before its next region."""
        owner(request)
        rollout.pause_cohort(pk, paused=True)
        return Response(_cohort(pk))

    @documented(CohortSerializer, "regions", request=None, operation_id="resumeCohort")
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: str) -> Response:
        """Let a paused cohort go on."""
        owner(request)
        rollout.pause_cohort(pk, paused=False)
        return Response(_cohort(pk))


def _cohort(name: str) -> object:
    found = next(row for row in regions.cohorts() if row.name == name)
    return CohortSerializer(found).data


class Announcements(viewsets.ViewSet):
    """What people were told."""

    @listing(AnnouncementSerializer, "regions", operation_id="listAnnouncements")
    def list(self, request: Request) -> Response:
        """Announcements, the newest first."""
        rows = regions.announcements(request.query_params.get("region", ""))
        return page(request, rows, AnnouncementSerializer, lambda row: row.title)

    @documented(
        AnnouncementSerializer,
        "regions",
        status=201,
        request=NewAnnouncement,
        operation_id="createAnnouncement",
        examples=examples.ANNOUNCEMENT,
    )
    def create(self, request: Request) -> Response:
        """Tell a cohort's people, or everybody, what will happen and when."""
        user = owner(request)
        shape = NewAnnouncement(data=request.data)
        shape.is_valid(raise_exception=True)
        body = shape.validated_data
        rollout.announce(body["title"], body["text"], user, body["cohort"])
        return Response(AnnouncementSerializer(regions.announcements()[0]).data, 201)


class FlagDefaults(APIView):
    """What flags are in regions made from now on."""

    @documented(
        FlagDefaultSerializer,
        "regions",
        request=FlagDefaultSerializer,
        operation_id="setFlagDefault",
    )
    def put(self, request: Request) -> Response:
        """Set what a flag is in new regions; the others keep what they have."""
        owner(request)
        shape = FlagDefaultSerializer(data=request.data)
        shape.is_valid(raise_exception=True)
        body = shape.validated_data
        rollout.set_default(body["name"], body["value"], pin=body["pin"])
        return Response(FlagDefaultSerializer(body).data)
