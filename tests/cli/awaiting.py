# SPDX-License-Identifier: BSD-3-Clause
"""Two ranks that await requests on an event loop; each prints the cases that went right."""

import asyncio
import sys

import headway
import numpy
from headway.api import awaiting
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, other = comm.rank, 1 - comm.rank
COUNT = 1 << 20
TURNS = 6


async def objects():
    """Pickled messages, several at once, their order that of the requests."""
    requests = [comm.irecv(source=other, tag=tag) for tag in range(5)]
    sends = [comm.isend({"from": rank, "tag": tag}, dest=other, tag=tag) for tag in range(5)]
    found = await headway.aio(requests)
    await headway.aio(sends)
    assert found == [{"from": other, "tag": tag} for tag in range(5)], found


async def buffers():
    """Large arrays; other tasks go on meanwhile."""
    here, there = numpy.full(COUNT, rank, "d"), numpy.empty(COUNT, "d")
    status = MPI.Status()
    turns = 0

    async def other_work():
        nonlocal turns
        while True:
            turns += 1
            if turns == TURNS and rank == 1:
                await headway.aio(comm.isend("went on", dest=other, tag=8))
            await asyncio.sleep(0.001)

    task = asyncio.create_task(other_work())
    if rank == 0:  # the partner has to wait for us
        assert await headway.aio(comm.irecv(source=other, tag=8)) == "went on"
    receive = headway.aio(comm.Irecv(there, source=other, tag=9), status)
    send = headway.aio(comm.Isend(here, dest=other, tag=9))
    assert await asyncio.gather(receive, send) == [None, None]
    task.cancel()
    assert (there == other).all() and status.Get_source() == other and status.Get_tag() == 9
    assert status.Get_count(MPI.DOUBLE) == COUNT
    if rank == 1:
        assert turns >= TURNS, turns


async def collectives():
    request = comm.Iallreduce(numpy.array([rank + 1.0]), total := numpy.zeros(1), MPI.SUM)
    await headway.aio([request, comm.Ibarrier()])
    assert total[0] == 3


class Counted:
    """A request, and how often it was tested."""

    def __init__(self, request):
        self.request, self.tests = request, 0

    def test(self, status=None):
        self.tests += 1
        return self.request.test(status)


async def sleeps():
    """Nothing spins while the partner is late: a busy loop would test some 100,000 times."""
    if rank == 0:
        request = Counted(comm.irecv(source=1, tag=20))
        late = asyncio.ensure_future(headway.aio(request))
        while not request.tests:
            await asyncio.sleep(0)
        await headway.aio(comm.isend("awaited", dest=1, tag=19))
        assert await late == "late"
        print(f" tests:{request.tests} ", flush=True)
        assert 1 < request.tests < 5000, request.tests
    else:
        assert await headway.aio(comm.irecv(source=0, tag=19)) == "awaited"
        await asyncio.sleep(0.6)
        await headway.aio(comm.isend("late", dest=0, tag=20))


async def cancelled_and_awaited_again():
    """Cancelling the await leaves the request alone."""
    request = comm.irecv(source=other, tag=30)
    try:
        await asyncio.wait_for(headway.aio(request), 0.05)
        raise AssertionError("nothing was sent")
    except TimeoutError:
        pass
    await headway.aio(comm.Ibarrier())
    send = comm.isend("in the end", dest=other, tag=30)
    assert await headway.aio(request) == "in the end"
    await headway.aio(send)


async def cancelled_in_mpi():
    """With cancel=True the receive is withdrawn: a later one gets the message."""
    buffer = numpy.zeros(4)
    request = comm.Irecv(buffer, source=other, tag=31)
    try:
        await asyncio.wait_for(headway.aio(request, cancel=True), 0.05)
        raise AssertionError("nothing was sent")
    except TimeoutError:
        pass
    while request != MPI.REQUEST_NULL:
        await asyncio.sleep(0.001)
    await headway.aio(comm.Ibarrier())
    send = comm.Isend(numpy.full(4, 7.0), dest=other, tag=31)
    second = numpy.zeros(4)
    await headway.aio([comm.Irecv(second, source=other, tag=31), send])
    assert (second == 7).all() and not buffer.any()


async def errors():
    """A message longer than the receive: MPI.Exception, in the task that awaits it, alone."""
    short = comm.Irecv(numpy.zeros(2), source=other, tag=40)
    right = comm.irecv(source=other, tag=41)
    await headway.aio(comm.Ibarrier())
    sends = [comm.Isend(numpy.zeros(4), dest=other, tag=40), comm.isend("fine", other, tag=41)]
    found = await asyncio.gather(headway.aio(short), headway.aio(right), return_exceptions=True)
    assert isinstance(found[0], MPI.Exception), found
    assert found[0].Get_error_class() == MPI.ERR_TRUNCATE and found[1] == "fine"
    await headway.aio(sends)


async def nothing_left():
    """No descriptor, timer or listener once nothing is awaited."""
    assert not awaiting._watches
    try:
        await headway.aio([MPI.REQUEST_NULL], MPI.Status())
        raise AssertionError("one status for several requests")
    except TypeError:
        pass
    assert await headway.aio(MPI.REQUEST_NULL) is None


CASES = (
    objects,
    buffers,
    collectives,
    sleeps,
    cancelled_and_awaited_again,
    cancelled_in_mpi,
    errors,
    nothing_left,
)


def count_tellings():
    """Counts how often the library told a loop that it has made progress."""
    tellings = []
    hear = awaiting._Watch.hear
    awaiting._Watch.hear = lambda watch: tellings.append(hear(watch))
    return tellings


def main():
    tellings = count_tellings()
    for case in CASES:
        asyncio.run(asyncio.wait_for(case(), 30))  # each on a loop of its own
        print(f" {rank}:{case.__name__} ", flush=True)
    state = headway.query()
    told = state is not None and state.is_active
    assert bool(tellings) == told, len(tellings)
    print(f" {rank}:{'library' if told else 'plain'} ", flush=True)


if __name__ == "__main__":
    sys.exit(main())
