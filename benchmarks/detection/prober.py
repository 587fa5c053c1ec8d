#!/usr/bin/env python3
# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Print two moments (seconds since the epoch), asked for every 20 ms on the target itself.

The first generation that succeeds at all; and the first that was asked for after the server had said that its warm-up is over.
Between the two a server can answer and still be about to die in its warm-up, as in the field report that started this.
"""

from __future__ import annotations

import http.client
import json
import time

BODY = json.dumps({"model": "tiny-gpt2", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1})


def generates() -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", 30001, timeout=120)
    try:
        connection.request("POST", "/v1/chat/completions", BODY, {"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status == 200 and b'"choices"' in response.read()
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def warm() -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", 30001, timeout=120)
    try:
        connection.request("GET", "/ready")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


while not generates():
    time.sleep(0.02)
first = time.time()
while not warm():
    time.sleep(0.02)
while not generates():
    time.sleep(0.02)
print(first, time.time(), flush=True)
