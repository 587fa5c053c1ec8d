# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who of a group of hosts takes which file from where, so that the origin sends each file once.

One host of the group keeps the plan. The others ask it again and again, each with the whole list of what it still
lacks, so the plan can be lost at any time: the next host that is asked begins an empty one. Nothing here reads a
clock, a disk or a network.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from typing import Iterable, Mapping, Sequence

ORIGIN = ""  # the source that is no host of the group: the hub
# Two large files at once, so that one arrives while the other is hashed; of small ones as many as make up this size.
ORIGIN_FILES = 2
BUNDLE_BYTES = 64 * 1024 * 1024
# Files that one host sends at the same time: enough to fill its line, few enough to finish each of them soon. Hosts that
# lack files share these places, so that each gets another file and has something to give to the others.
UPLOADS = 4
# A host that has not asked for this long is gone, and what was left to it is given to another.
PATIENCE_SECONDS = 45.0
# Nobody is sent to a host whose own list could not be read for this long. It may only be busy, so what it holds is
# not fetched from the origin before PATIENCE_SECONDS are over.
HOLDER_SECONDS = 15.0
# After a failure another source is tried first for this long.
AVOID_SECONDS = 60.0


@dataclass
class _Host:
    asked_at: float = float("-inf")
    seen_at: float = float("-inf")
    holds: frozenset[str] = frozenset()
    takes: dict[str, str] = field(default_factory=dict)  # digest -> source
    # digest -> when it was no longer lacked: until the host's own list says so too, it is not held but will be.
    finished: dict[str, float] = field(default_factory=dict)
    avoids: dict[tuple[str, str], float] = field(default_factory=dict)  # (digest, source) -> until
    distrusts: set[str] = field(default_factory=set)  # digests that arrived with wrong content


class Plan:
    """The plan of one group. Hosts are named by the address that they serve their files at."""

    def __init__(self) -> None:
        self._hosts: dict[str, _Host] = {}

    def learn(self, host: str, digests: Iterable[str], now: float) -> None:
        """Note what *host* says that it holds, verified."""
        entry = self._hosts.setdefault(host, _Host())
        entry.holds, entry.seen_at = frozenset(digests), now

    def ask(
        self,
        host: str,
        lacks: Mapping[str, int],
        failed: Sequence[Sequence[str]],
        wrong: Sequence[str],
        parallel_files: int,
        now: float,
    ) -> dict[str, str]:
        """What *host* is to take now, as {digest: source}; asked again, the answer goes on from there.

        *lacks* is {digest: bytes} of everything it has not verified yet, in the order of its manifest. *failed* holds
        pairs of digest and source that did not work, *wrong* the digests whose content was wrong when it arrived from
        another host: those it takes from the origin.
        """
        entry = self._hosts.setdefault(host, _Host())
        entry.asked_at = now
        entry.distrusts.update(wrong)
        for digest, source in failed:
            entry.avoids[digest, source] = now + AVOID_SECONDS
        entry.finished.update({digest: now for digest in entry.takes if digest not in lacks})
        entry.takes = {
            digest: source
            for digest, source in entry.takes.items()
            if digest in lacks and self._usable(host, digest, source, now)
        }
        self._take_from_hosts(host, lacks, parallel_files, now)
        self._take_from_origin(entry, lacks, now)
        return dict(entry.takes)

    def _take_from_hosts(self, host: str, lacks: Mapping[str, int], parallel_files: int, now: float) -> None:
        """Rare files first: what many hosts hold or are about to hold can wait."""
        entry = self._hosts[host]
        wanted = [digest for digest in lacks if digest not in entry.takes]
        # What nobody holds has to come from the origin, and must not wait behind what can be had at any time.
        reserved = ORIGIN_FILES if any(not self._is_held(digest, entry, now) for digest in lacks) else 0
        places = max(1, UPLOADS // self._rivals(lacks, now))
        copies = {digest: self._copies(digest, now) for digest in wanted}
        # Hosts that would choose alike begin at different files, and then have something for each other.
        for digest in sorted(wanted, key=lambda digest: (copies[digest], _shuffled(host, digest))):
            bundle = [lacks[digest] for digest, source in entry.takes.items() if source != ORIGIN]
            if not _has_room(bundle, max(1, parallel_files - reserved)):
                return
            free = [
                (self._uploads(holder, now), _shuffled(host, holder), holder)
                for holder in self._hosts
                if holder != host
                and self._usable(host, digest, holder, now)
                and self._can_send(holder, entry, lacks, places, now)
            ]
            if free:
                entry.takes[digest] = min(free)[2]

    def _take_from_origin(self, entry: _Host, lacks: Mapping[str, int], now: float) -> None:
        for digest in lacks:
            if digest in entry.takes:
                continue
            bundle = [lacks[digest] for digest, source in entry.takes.items() if source == ORIGIN]
            if not _has_room(bundle, ORIGIN_FILES):
                return
            if digest in entry.distrusts or not (self._is_on_its_way(digest, now) or self._is_held(digest, entry, now)):
                entry.takes[digest] = ORIGIN

    def _usable(self, host: str, digest: str, source: str, now: float) -> bool:
        entry = self._hosts[host]
        if source == ORIGIN:
            return True
        holder = self._hosts.get(source)
        return (
            holder is not None
            and digest in holder.holds
            and now - holder.seen_at <= HOLDER_SECONDS
            and digest not in entry.distrusts
            and entry.avoids.get((digest, source), now) <= now
        )

    def _is_held(self, digest: str, entry: _Host, now: float) -> bool:
        """Whether a host holds it that this one could take it from, now or when it has a moment."""
        return any(
            (
                (digest in holder.holds and now - holder.seen_at <= PATIENCE_SECONDS)
                or now - holder.finished.get(digest, float("-inf")) <= PATIENCE_SECONDS
            )
            and entry.avoids.get((digest, name), now) <= now
            for name, holder in self._hosts.items()
            if holder is not entry
        )

    def _is_on_its_way(self, digest: str, now: float) -> bool:
        """Whether a living host fetches it from the origin."""
        return any(host.takes.get(digest) == ORIGIN and digest not in host.distrusts for host in self._living(now))

    def _copies(self, digest: str, now: float) -> int:
        held = sum(digest in host.holds for host in self._hosts.values())
        return held + sum(digest in host.takes for host in self._living(now))

    def _uploads(self, holder: str, now: float) -> int:
        return sum(source == holder for host in self._living(now) for source in host.takes.values())

    def _rivals(self, lacks: Mapping[str, int], now: float) -> int:
        """How many hosts there are that do not hold all of *lacks*, the one that asks among them."""
        return max(
            1,
            sum(now - host.seen_at <= HOLDER_SECONDS and not host.holds >= set(lacks) for host in self._hosts.values()),
        )

    def _can_send(self, holder: str, taker: _Host, lacks: Mapping[str, int], places: int, now: float) -> bool:
        own = [lacks.get(digest, 0) for digest, source in taker.takes.items() if source == holder]
        sent = [
            lacks.get(digest, BUNDLE_BYTES)
            for host in self._living(now)
            for digest, source in host.takes.items()
            if source == holder
        ]
        return _has_room(sent, UPLOADS) and _has_room(own, places)

    def _living(self, now: float) -> list[_Host]:
        return [host for host in self._hosts.values() if now - host.asked_at <= PATIENCE_SECONDS]


def _has_room(bundle: Sequence[int], files: int) -> bool:
    return len(bundle) < files or sum(bundle) < BUNDLE_BYTES


def _shuffled(host: str, word: str) -> str:
    return sha256(f"{host}\0{word}".encode()).hexdigest()
