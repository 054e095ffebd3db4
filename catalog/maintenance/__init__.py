"""Control of materialized views: when each is computed, how far it is, and when it is replaced.

The data plane's part is `ingest.views`; `docs/adr/0006-maintained-views.md` says how they meet.
"""
