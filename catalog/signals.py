"""The two things the catalog tells the rest of the process.

committed: after the database commit of a catalog transaction; `region` (name), `revision` (int)
and `ids` (tuple of the global ids that changed). reported: after a feed's reports became visible
to readers; `region` and `ids` (feeds' and tables' ids).
"""

from __future__ import annotations

from django.dispatch import Signal

committed = Signal()
reported = Signal()
