# SPDX-License-Identifier: MPL-2.0
"""A TCP proxy that simulates network faults. All proxies of a test share one thread."""

import asyncio
import socket
import struct
import threading

DELAY = 0.25  # seconds that `latency` adds, each way
SLOW = 8192  # bytes a second that `slow` lets through, each way
FAULTS = ("latency", "slow", "half-open", "reset", "cut")


class Wires:
    """The thread of all proxies."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def run(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(30)

    def release(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


class Link:
    """One connection through a proxy."""

    def __init__(self, *writers):
        self.writers = writers
        self.lost = False  # some data was dropped: the connection can't continue

    def reset(self):
        for writer in self.writers:
            raw = writer.get_extra_info("socket")
            if raw is not None and raw.fileno() >= 0:
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()


class Proxy:
    """Forwards to its targets (ports on this machine) in turn, except those that refuse connections: a load balancer
    without health checks. `fault` is None or one of FAULTS:

    - latency: all data is delayed by DELAY seconds
    - slow: at most SLOW bytes a second
    - half-open: connections are accepted, and their data is dropped
    - reset: connections are reset, existing and new ones
    - cut: as reset, and new ones are refused
    """

    def __init__(self, wires, *targets):
        self.wires = wires
        self.targets = list(targets)
        self.fault = None
        self.links = set()
        self.port = 0
        self.server = None
        wires.run(self._listen())

    async def _listen(self):
        self.server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        self.port = self.server.sockets[0].getsockname()[1]

    async def _stop_listening(self):
        self.server.close()
        self.server = None

    # ---- faults ----

    def break_as(self, fault):
        assert fault in FAULTS, fault
        self.wires.run(self._break(fault))

    async def _break(self, fault):
        self.fault = fault
        if fault == "cut":
            await self._stop_listening()
        if fault in ("reset", "cut"):
            self._reset(self.links)

    def heal(self):
        """Closes connections that lost data. Others continue unharmed."""
        self.wires.run(self._heal())

    async def _heal(self):
        self.fault = None
        self._reset(link for link in self.links if link.lost)
        if self.server is None:
            await self._listen()

    @staticmethod
    def _reset(links):
        for link in list(links):
            link.reset()

    def release(self):
        self.wires.run(self._end())

    async def _end(self):
        if self.server is not None:
            await self._stop_listening()
        self._reset(self.links)
        while self.links:
            await asyncio.sleep(0.01)

    # ---- connections ----

    async def _connect(self):
        for port in list(self.targets):
            self.targets.append(self.targets.pop(0))
            try:
                return await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                continue
        return None, None

    async def _accept(self, near, near_writer):
        link = Link(near_writer)
        self.links.add(link)
        try:
            far, far_writer = (None, None) if self.fault == "reset" else await self._connect()
            if far is None:
                link.reset()
                return
            link.writers = (near_writer, far_writer)
            await asyncio.gather(self._pump(link, near, far_writer), self._pump(link, far, near_writer))
        except OSError:
            pass
        finally:
            link.reset() if link.lost else [writer.close() for writer in link.writers]
            self.links.discard(link)

    async def _pump(self, link, reader, writer):
        try:
            while data := await reader.read(65536):
                await self._pass(link, writer, data)
            if not link.lost and writer.can_write_eof():
                writer.write_eof()
        except OSError:
            link.reset()

    async def _pass(self, link, writer, data):
        if self.fault == "latency":
            await asyncio.sleep(DELAY)
        while self.fault == "slow" and data:
            piece, data = data[: SLOW // 8], data[SLOW // 8 :]
            writer.write(piece)
            await asyncio.sleep(len(piece) / SLOW)
        if self.fault == "half-open" or link.lost:
            link.lost = True
        elif data:
            writer.write(data)
            await writer.drain()
