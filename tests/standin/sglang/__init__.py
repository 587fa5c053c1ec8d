# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A stand-in for SGLang 0.5.23: same command line, same log lines, same HTTP shapes, no model. For tests only."""

from __future__ import annotations

__version__ = "0.5.23"
