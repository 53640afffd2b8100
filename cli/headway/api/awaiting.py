# SPDX-License-Identifier: BSD-3-Clause
"""`await headway.aio(request)`: requests of mpi4py on an event loop.

    data, _ = await asyncio.gather(headway.aio(comm.irecv(source=0)), other_work())

Nothing waits in MPI and nothing spins. All requests awaited on one loop are tested together, in
the loop's own thread: when the library has made progress (its thread writes to an eventfd,
headway_listen in headway.h), and otherwise after pauses that grow while nothing completes. With
the library the pauses are only a net under it; without, they are all there is, and large messages
move only when a test happens to move them.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from headway.api import interface

#: tests made at once, one each turn of the loop, before the first pause: answers to small messages
PROMPT_LOOKS = 10
#: pauses between tests, in seconds: first, and longest; the net is used while the library tells
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.001, 0.016
FIRST_NET_S, LONGEST_NET_S = 0.008, 0.064


class Request(Protocol):
    """What is needed of mpi4py's MPI.Request."""

    def test(self, status: Any = None) -> tuple[bool, Any]: ...
    def Cancel(self) -> None: ...


@dataclass(eq=False)
class _Awaited:
    request: Request
    status: Any
    future: asyncio.Future[Any] | None  # None: nobody waits any more, it only has to end


class _Watch:
    """The requests awaited on one loop. It exists while there are any."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.awaited: set[_Awaited] = set()
        self.timer: asyncio.Handle | None = None
        self.prompt_looks = PROMPT_LOOKS
        self.pause_s = FIRST_PAUSE_S
        self.descriptor = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self.is_listening = interface.listen(self.descriptor)
        if self.is_listening:
            loop.add_reader(self.descriptor, self.hear)
        state = interface.query() if self.is_listening else None
        self.is_told = state is not None and state.is_active

    def add(self, awaited: _Awaited) -> None:
        self.awaited.add(awaited)
        self.begin_anew()

    def begin_anew(self) -> None:
        """Something is new or has completed: the next one may be near."""
        self.prompt_looks = PROMPT_LOOKS
        self.pause_s = FIRST_NET_S if self.is_told else FIRST_PAUSE_S
        self.schedule()

    def schedule(self) -> None:
        if self.timer:
            self.timer.cancel()
        if self.prompt_looks:
            self.timer = self.loop.call_soon(self.look_promptly)
        else:
            self.timer = self.loop.call_later(self.pause_s, self.look_later)

    def look_promptly(self) -> None:
        self.prompt_looks -= 1
        if not self.look():
            self.schedule()

    def look_later(self) -> None:
        longest = LONGEST_NET_S if self.is_told else LONGEST_PAUSE_S
        self.pause_s = min(2 * self.pause_s, longest)
        if not self.look():
            self.schedule()

    def hear(self) -> None:
        """The library has made progress."""
        os.eventfd_read(self.descriptor)
        self.look()

    def look(self) -> bool:
        """Tests everything. True if something completed, and what follows is arranged."""
        ended = [one for one in self.awaited if self.has_ended(one)]
        self.awaited.difference_update(ended)
        if not self.awaited:
            self.close()
        elif ended:
            self.begin_anew()
        return bool(ended)

    def has_ended(self, awaited: _Awaited) -> bool:
        try:
            is_complete, message = awaited.request.test(awaited.status)
        except Exception as error:  # MPI.Exception, or what unpickling a message raises
            if awaited.future and not awaited.future.done():
                awaited.future.set_exception(error)
            return True
        if is_complete and awaited.future and not awaited.future.done():
            awaited.future.set_result(message)
        return is_complete

    def leave(self, awaited: _Awaited) -> None:
        self.awaited.discard(awaited)
        if not self.awaited:
            self.close()

    def close(self) -> None:
        if _watches.pop(self.loop, None) is None:
            return
        if self.timer:
            self.timer.cancel()
        if self.is_listening:
            interface.unlisten(self.descriptor)
            self.loop.remove_reader(self.descriptor)
        os.close(self.descriptor)


_watches: dict[asyncio.AbstractEventLoop, _Watch] = {}


async def aio(
    request: Request | Sequence[Request], status: Any = None, *, cancel: bool = False
) -> Any:
    """What `request.wait(status)` returns, without keeping the loop from other tasks.

    The message, for a request of a lower-case method; None for one with a buffer. Several requests
    in a sequence: a list of their results (then without `status`). Await a request once, in the
    thread its loop runs in; MPI must allow calls from that thread.

    An MPI error is raised as MPI.Exception, where the communicator's handler returns errors
    (mpi4py's default). Cancelling the task leaves the request as it is: it may be awaited again,
    and its buffer belongs to MPI until it is complete. With `cancel=True` MPI_Cancel is called too,
    which MPI allows for receives, and the loop completes the request by itself.
    """
    if isinstance(request, Sequence):
        if status is not None:
            raise TypeError("a status belongs to one request, not to several")
        return list(await asyncio.gather(*(aio(one, cancel=cancel) for one in request)))
    is_complete, message = request.test(status)
    if is_complete:
        return message
    loop = asyncio.get_running_loop()
    future: asyncio.Future[object] = loop.create_future()
    awaited = _Awaited(request, status, future)
    watch = _watches.get(loop)
    if watch is None:
        watch = _watches[loop] = _Watch(loop)
    watch.add(awaited)
    try:
        return await future
    except asyncio.CancelledError:
        _let_go(watch, awaited, cancel)
        raise


def _let_go(watch: _Watch, awaited: _Awaited, cancel: bool) -> None:
    """Its task was cancelled. What has completed in the same moment has left the watch already."""
    if awaited not in watch.awaited:
        return
    if not cancel:
        watch.leave(awaited)
        return
    awaited.future = None
    try:
        awaited.request.Cancel()
    except Exception as error:
        context = {"message": "MPI_Cancel failed", "exception": error, "task": None}
        watch.loop.call_exception_handler(context)
    watch.begin_anew()
