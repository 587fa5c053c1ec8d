# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: model_seed
short_description: Give a model's verified files to the other hosts of a play
version_added: "0.1.0"
author:
  - The inferops.sglang maintainers (@inferops)
description:
  - Starts a small program on the host that other hosts can take the files of O(path) from, so that a group of hosts
    fetches a model from the hub once. M(inferops.sglang.model_download) uses it, given the addresses that this module
    returned on each host; the role C(model_download) does both where C(model_download_seeds) names the hosts.
  - Only files are given away that M(inferops.sglang.model_download) has verified and that have not changed since, and
    the host that takes one verifies it again. The directory may be empty, and fill while others already take from it.
  - The program runs as a transient systemd unit, as a user of its own that can read and not write, listens at
    O(address) alone, and answers only who knows the key. It ends by itself two minutes after the last request.
  - One of the hosts also keeps the plan of who takes which file from where. Every host can, so none has to survive.
options:
  path:
    description: The directory of the model, as given to M(inferops.sglang.model_download).
    type: path
    required: true
  address:
    description: The address of this host under which the others reach it. It is one of the host's own addresses.
    type: str
    required: true
  ports:
    description:
      - The range of TCP ports to choose from, as V(first-last); the first free one is taken. A firewall between the
        hosts has to let them through. A host that has several models to give needs as many.
    type: str
    default: 6881-6889
  bandwidth_limit_mib_per_s:
    description: How many MiB a second all other hosts together may take from this one; V(0) is no limit.
    type: float
    default: 0
  key_sha256:
    description:
      - The SHA-256 digest, in hexadecimal, of the key that others have to know. It can be public.
      - Where the program runs already, it opens for this key too.
    type: str
    required: true
requirements:
  - systemd, and to run as root
extends_documentation_fragment:
  - inferops.sglang.attributes
attributes:
  check_mode:
    support: full
    details:
      - Starts nothing and returns no address.
  diff_mode:
    support: none
    details:
      - Nothing of the host's configuration is touched.
  idempotent:
    support: full
    details:
      - A program that runs already as wanted is left alone. Starting one is not reported as a change, since it serves
        the play alone and leaves nothing behind.
  platform:
    support: full
    platforms: posix
    details:
      - Linux with systemd.
"""

EXAMPLES = r"""
- name: Give what is verified here to the other hosts
  inferops.sglang.model_seed:
    path: /models/kimi-k2.6
    address: "{{ ansible_facts['bond0']['ipv4']['address'] }}"
    key_sha256: "{{ key | hash('sha256') }}"
  register: seed

- name: Download the model, each file once for the whole group
  inferops.sglang.model_download:
    repository: moonshotai/Kimi-K2.6
    path: /models/kimi-k2.6
    seeds: "{{ ansible_play_hosts | map('extract', hostvars, 'seed') | map(attribute='address') | select | sort }}"
    seed_address: "{{ seed.address }}"
    seed_key: "{{ key }}"
"""

RETURN = r"""
address:
  description: Where the other hosts find the program, empty in check mode.
  returned: success
  type: str
  sample: 10.0.0.21:6881
"""

import os
import re

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.inferops.sglang.plugins.module_utils._target.seed_unit import SeedFailed, SeedUnit


def port_range(module: AnsibleModule) -> range:
    text = module.params["ports"]
    found = re.match(r"(\d{1,5})-(\d{1,5})\Z", text)
    first, last = (int(found.group(1)), int(found.group(2))) if found else (0, 0)
    if not 1 <= first <= last <= 65535:
        module.fail_json(msg=f"ports is {text!r}; it is a range such as 6881-6889, between 1 and 65535")
    return range(first, last + 1)


def check_arguments(module: AnsibleModule) -> None:
    params = module.params
    if not os.path.isabs(params["path"]) or os.path.normpath(params["path"]) == "/":
        module.fail_json(msg=f"path is {params['path']!r}; give the absolute path of a model's directory")
    if params["bandwidth_limit_mib_per_s"] < 0:
        module.fail_json(msg=f"bandwidth_limit_mib_per_s is {params['bandwidth_limit_mib_per_s']}; 0 is no limit")
    if not re.match(r"[0-9a-f]{64}\Z", params["key_sha256"]):
        module.fail_json(msg="key_sha256 is not a digest of 64 hexadecimal digits; use the filter hash('sha256')")
    if os.geteuid() != 0:
        module.fail_json(msg="The files are given away by a systemd unit, which needs root: use become")
    if not module.get_bin_path("systemd-run"):
        module.fail_json(msg="systemd-run is not on this host: install the Debian package systemd")


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "path", "required": True},
            "address": {"type": "str", "required": True},
            "ports": {"type": "str", "default": "6881-6889"},
            "bandwidth_limit_mib_per_s": {"type": "float", "default": 0},
            "key_sha256": {"type": "str", "required": True, "no_log": False},
        },
        supports_check_mode=True,
    )
    ports = port_range(module)
    check_arguments(module)
    if module.check_mode:
        module.exit_json(changed=False, address="")
    params = module.params
    limit = round(params["bandwidth_limit_mib_per_s"] * (1 << 20))
    try:
        address = SeedUnit(module.run_command, params["path"]).start(
            params["address"], ports, limit, params["key_sha256"]
        )
    except SeedFailed as error:
        module.fail_json(msg=str(error))
    except OSError as error:
        module.fail_json(msg=f"Cannot prepare the unit that gives files away: {error}")
    module.exit_json(changed=False, address=address)


if __name__ == "__main__":
    main()
