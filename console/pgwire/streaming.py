"""A stream's rows, some at a time, for a client that asks for rows."""

from __future__ import annotations

from collections import deque

import pyarrow as pa

from catalog.results import Stream

WAIT = 0.5


class Streaming:
    """Where the rows of one stream stand; used in the session's thread."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.sent = 0
        self.begun = False
        self._parts: deque[pa.Table] = deque()

    def take(self, most: int = 0) -> pa.Table | None:
        """The next rows, at most so many (0: any number), waiting until there are some.

        None at the stream's end. Raises HeadraceError when it cannot go on or was cancelled.
        """
        self.begun = True
        flow = self.stream.flow
        while not self._parts:
            batch = flow.take()
            if batch is not None:
                self._parts.extend(part for part in batch.parts if part.num_rows)
            elif flow.finished:
                return None
            else:
                flow.wait(WAIT)
        part = self._parts.popleft()
        if 0 < most < part.num_rows:
            self._parts.appendleft(part.slice(most))
            part = part.slice(0, most)
        self.sent += part.num_rows
        return part

    def close(self) -> None:
        """Nobody reads any more."""
        self.stream.flow.close()
