# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Carry chunks from one host to another that it cannot reach, both halves at the same time.

While the target unpacks one chunk, the next is fetched from the reference and a further one is packed there.

Note that this plugin util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import contextvars
import os
import queue
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Callable, Iterator, NamedTuple, TypeVar

# Chunks that wait on the controller: more would fill its disk without making the slower half any faster.
WAITING = 2


First = TypeVar("First")
Second = TypeVar("Second")


class Chunk(NamedTuple):
    """A part of the stream, in bytes before compression."""

    offset: int
    length: int


def chunks(total: int, length: int) -> Iterator[Chunk]:
    """Cut *total* bytes into chunks of at most *length* bytes."""
    for offset in range(0, total, length):
        yield Chunk(offset, min(length, total - offset))


def at_once(first: Callable[[], First], second: Callable[[], Second]) -> tuple[First, Second]:
    """Do both at the same time, *first* in a thread of its own. They must use nothing together."""
    with ThreadPoolExecutor(1, "at-once") as pool:
        other = pool.submit(_with_context(first))
        own = second()
        return other.result(), own


def relay(
    parts: Iterator[Chunk],
    take: Callable[[Chunk], str],
    give: Callable[[Chunk, str], None],
    done: Callable[[Chunk], None],
) -> None:
    """Move every chunk: *take* brings it to a file on the controller, *give* brings that file to the target.

    *take* runs in a thread of its own, so it must use nothing that *give* uses. An exception in either ends both.
    *done* is called after each chunk, in order.
    """
    waiting: queue.Queue[tuple[Chunk, str] | BaseException | None] = queue.Queue(WAITING)
    stop = threading.Event()

    def fill() -> None:
        try:
            for part in parts:
                if stop.is_set():
                    return
                waiting.put((part, take(part)))
            waiting.put(None)
        except BaseException as error:  # handed to the other side, which raises it
            waiting.put(error)

    thread = threading.Thread(target=_with_context(fill), name="relay", daemon=True)
    thread.start()
    try:
        while True:
            item = waiting.get()
            if item is None:
                return
            if isinstance(item, BaseException):
                raise item
            part, path = item
            give(part, path)
            os.unlink(path)
            done(part)
    finally:
        stop.set()
        while thread.is_alive():
            _drain(waiting)
            thread.join(0.1)
        _drain(waiting)


def _with_context(work: Callable[[], First]) -> Callable[[], First]:
    """Ansible keeps what belongs to the running task in context variables, which a thread does not inherit."""
    context = contextvars.copy_context()
    return lambda: context.run(work)


def _drain(waiting: queue.Queue[tuple[Chunk, str] | BaseException | None]) -> None:
    """Make room, so that the thread can end, and remove what nobody will take."""
    while True:
        try:
            item = waiting.get_nowait()
        except queue.Empty:
            return
        if isinstance(item, tuple):
            os.unlink(item[1])
