# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations


class ModuleDocFragment:
    """The option C(signatures), which the modules that diagnose share."""

    DOCUMENTATION = r"""
options:
  signatures:
    description:
      - Failures of your own to recognise. They win over the ones that the collection knows.
      - Patterns are regular expressions, searched anywhere, case ignored. Named groups may be used as C({name}) in the
        texts.
    type: list
    elements: dict
    default: []
    suboptions:
      id:
        description: A short name for the failure.
        type: str
        required: true
      title:
        description: The failure in a few words.
        type: str
      cause:
        description: Why it happens.
        type: str
      exception:
        description: Pattern on the type and message of an exception, and on what it printed below.
        type: str
      frames:
        description: Pattern that the traceback's frames must match as well.
        type: str
      line:
        description: Pattern on any single line.
        type: str
      nearby:
        description: Pattern that some other line of the log must match as well.
        type: str
      remedies:
        description: What to change, best first.
        type: list
        elements: dict
        default: []
        suboptions:
          kind:
            description: What is changed.
            type: str
            choices: [server_args, environment, packages, host, model, manual]
            default: manual
          value:
            description: The change itself.
            type: str
            required: true
          unattended:
            description: Whether a machine may do it without asking.
            type: bool
            default: false
          note:
            description: What people should know about it.
            type: str
"""
