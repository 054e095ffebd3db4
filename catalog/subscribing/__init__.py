"""SUBSCRIBE: what there is at a time, then every change of it, to any number of readers.

subjects    what can be followed: an item whose changes are recorded, a query, built-in relations
window      the newest changes, shared by everybody who follows the same thing
follower    the one thread per subject that computes its changes
shaping     changes as SUBSCRIBE's rows: envelopes, progress, order within a timestamp
subscription  one reader: where it is, what it gets next
opening     from a plan to a subscription
"""

from __future__ import annotations

from catalog.subscribing.follower import wake
from catalog.subscribing.opening import describe, subscribe

__all__ = ["describe", "subscribe", "wake"]
