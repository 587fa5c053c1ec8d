# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations


class ModuleDocFragment:
    """How a hub is asked."""

    DOCUMENTATION = r"""
options:
  repository:
    description: The repository at the hub, as V(organisation/name).
    type: str
  revision:
    description: A branch, a tag or a full commit id of O(repository). It is resolved to a commit first.
    type: str
    default: main
  endpoint:
    description: The hub, or a mirror of it that answers in the same way.
    type: str
    default: https://huggingface.co
  token:
    description: The token for gated and private repositories. It is sent to O(endpoint) alone.
    type: str
  proxy:
    description:
      - The proxy for requests to O(endpoint), as C(http://host:port).
      - Without it the environment decides (E(https_proxy), E(http_proxy), E(no_proxy)).
    type: str
  no_proxy:
    description: Names, domains and addresses that are reached without a proxy, with commas between them.
    type: str
  validate_certs:
    description: Whether the certificates of O(endpoint) are checked.
    type: bool
    default: true
  ca_path:
    description: A file of certificates to trust in place of the system's.
    type: path
"""
