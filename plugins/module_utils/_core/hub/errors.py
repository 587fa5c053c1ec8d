# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a hub's refusal means, as a sentence with the way out.

The hub tells its errors by the header X-Error-Code (huggingface_hub, utils/_http.py: hf_raise_for_status) and
its rate limits by "RateLimit: \"resolvers\";r=<left>;t=<seconds to reset>"; it sends no Retry-After.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import re
from typing import Mapping

# Answers worth asking again, as the hub's own client does.
RETRYABLE = frozenset((408, 429, 500, 502, 503, 504))
_RATE_LIMIT = re.compile(r'"(\w+)"\s*;\s*r\s*=\s*(\d+)\s*;\s*t\s*=\s*(\d+)')
DEFAULT_WAIT_SECONDS = 30.0
LONGEST_WAIT_SECONDS = 310.0  # one whole rate-limit window of the hub, and a little


class HubError(Exception):
    """A request that failed: *retryable* says whether the same request may succeed after *wait_seconds*."""

    def __init__(self, message: str, retryable: bool = False, wait_seconds: float = 0.0) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.wait_seconds = wait_seconds

    @property
    def passes(self) -> bool:
        """Whether it is worth waiting for: another attempt may succeed, and soon enough."""
        return self.retryable and self.wait_seconds <= LONGEST_WAIT_SECONDS


def rate_limit_wait(headers: Mapping[str, str]) -> float:
    """Seconds until the exhausted window ends; 0 while requests are left. *headers* has lower-case names."""
    match = _RATE_LIMIT.search(headers.get("ratelimit", ""))
    if match and int(match.group(2)) == 0:
        return float(match.group(3)) + 1.0
    retry_after = headers.get("retry-after", "")
    return float(retry_after) if retry_after.isdigit() else 0.0


def explain(
    status: int, headers: Mapping[str, str], endpoint: str, repository: str, what: str, has_token: bool
) -> HubError:
    """The error for an answer of *status*; *what* names the thing asked for, e.g. "revision 'v1'"."""
    code = headers.get("x-error-code", "")
    said = headers.get("x-error-message", "")
    page = f"{endpoint}/{repository}"
    if status == 429:
        wait = rate_limit_wait(headers) or DEFAULT_WAIT_SECONDS
        hint = "" if has_token else "; with a token the limit is higher"
        return HubError(f"{endpoint} limits the rate of requests and asks to wait {wait:.0f} s{hint}", True, wait)
    if status in RETRYABLE:
        return HubError(f"{endpoint} answered {status} to the request for {what} of {repository}", True)
    if code == "GatedRepo":
        if has_token:
            return HubError(
                f"{repository} is gated and the account of the given token has no access: "
                f"accept the terms at {page} with that account, and let the token read gated repositories"
            )
        return HubError(f"{repository} is gated and no token was given: accept the terms at {page} and pass your token")
    if status == 401 and "invalid credentials" in said.lower():
        return HubError(f"{endpoint} does not know the given token: it is mistyped, expired or revoked")
    if code == "RevisionNotFound":
        return HubError(f"{repository} at {endpoint} has no {what}: name a branch, a tag or a full commit id")
    if code == "EntryNotFound":
        return HubError(f"{repository} at {endpoint} has no {what} at this commit")
    if code == "RepoNotFound" or status in (401, 404):
        if has_token:
            reason = "it does not exist, or the account of the given token may not see it"
        else:
            reason = "it does not exist, or it is private and no token was given"
        return HubError(f"{endpoint} shows no repository {repository}: {reason}")
    detail = f": {said}" if said else ""
    return HubError(f"{endpoint} answered {status} to the request for {what} of {repository}{detail}")
