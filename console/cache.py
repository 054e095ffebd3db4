"""The cache that all processes share, which does without its server for as long as that is away.

What is cached are counters of attempts and of calls: while Redis is gone each process counts for
itself, so limits still hold and no request fails.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

_log = logging.getLogger(__name__)


class LastingCache(RedisCache):
    """Redis, or this process's own memory while Redis does not answer."""

    def __init__(self, server: Any, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._own = LocMemCache("without-redis", {})

    def add(self, *args: Any, **kwargs: Any) -> Any:
        """As Django's; so are all of the others."""
        return self._either(super().add, self._own.add, *args, **kwargs)

    def get(self, *args: Any, **kwargs: Any) -> Any:
        """See `add`."""
        return self._either(super().get, self._own.get, *args, **kwargs)

    def get_many(self, *args: Any, **kwargs: Any) -> Any:
        """See `add`."""
        return self._either(super().get_many, self._own.get_many, *args, **kwargs)

    def set(self, *args: Any, **kwargs: Any) -> Any:
        """See `add`."""
        return self._either(super().set, self._own.set, *args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> Any:
        """See `add`."""
        return self._either(super().delete, self._own.delete, *args, **kwargs)

    def incr(self, *args: Any, **kwargs: Any) -> Any:
        """See `add`."""
        return self._either(super().incr, self._own.incr, *args, **kwargs)

    def _either(
        self, shared: Callable[..., Any], own: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Any:
        try:
            return shared(*args, **kwargs)
        except (RedisError, OSError) as error:
            _log.warning("the cache is away, this process counts alone: %s", error)
            return own(*args, **kwargs)
