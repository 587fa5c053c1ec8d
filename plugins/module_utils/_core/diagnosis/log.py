# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What other packages of the core may use of a log: serving stands on diagnosis, and diagnosis on the journal.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.entry import (
    JOURNALD,
    KERNEL,
    SYSTEMD,
    UNIT,
    Entry,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.records import (
    JournalReader,
    parse_json_line,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.saved import read_log

__all__ = ["JOURNALD", "KERNEL", "SYSTEMD", "UNIT", "Entry", "JournalReader", "parse_json_line", "read_log"]
