"""The one line that the API's page shows beside each path."""

from __future__ import annotations

from drf_spectacular.openapi import AutoSchema


class Summarised(AutoSchema):
    """An operation's summary is the first sentence of what its view says."""

    def get_summary(self) -> str:
        """The first sentence, without its full stop."""
        sentence: str = self.get_description().split("\n")[0].split(". ")[0]
        return sentence.rstrip(".")
