# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A second host inside one task: run modules on it, fetch files from it and put files there.

Ansible gives an action plugin one connection, to the host of the task. Here is another one, made from the
inventory's variables of any host, in the way Ansible makes the first.

Note that this plugin util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import hashlib
import os
import threading
from typing import Any

from ansible import constants as C  # noqa: N812 - the name it has everywhere in Ansible
from ansible.errors import AnsibleError
from ansible.module_utils.parsing.convert_bool import boolean
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.play_context import PlayContext
from ansible.playbook.task import Task
from ansible.plugins.action import ActionBase
from ansible.plugins.connection import ConnectionBase
from ansible.plugins.loader import become_loader, connection_loader
from ansible.template import Templar


class HostError(AnsibleError):
    """A module failed on one of the hosts; *result* is what it returned."""

    def __init__(self, host: str, result: dict[str, Any]) -> None:
        super().__init__(f"{host}: {result.get('msg', 'the module gave no reason')}")
        self._result = result

    def report(self) -> dict[str, Any]:
        """What of it belongs into the result of the task."""
        kept = {key: self._result[key] for key in ("evidence", "exception", "module_stderr") if self._result.get(key)}
        return {"msg": str(self), **kept}


class BuildsAlone(ActionBase):
    """An action that may run modules while another one does so in another thread.

    Waiting for hosts can overlap, but building a module parses Python, and CPython's parser is not safe for that:
    two at once end in "AST constructor recursion depth mismatch" (seen with 3.11; cpython issue 106905).
    """

    _building = threading.RLock()

    def _configure_module(self, *args: Any, **kwargs: Any) -> Any:
        with self._building:
            return super()._configure_module(*args, **kwargs)

    def _compute_environment_string(self, *args: Any, **kwargs: Any) -> Any:
        with self._building:
            return super()._compute_environment_string(*args, **kwargs)


class HostSide:
    """One host as an action plugin sees it."""

    def __init__(self, host: str, action: ActionBase, task_vars: dict[str, Any]) -> None:
        self.host = host
        self._action = action
        self._task_vars = task_vars
        self._exchange = ""

    def run(self, module: str, **arguments: Any) -> dict[str, Any]:
        """Run a module and return its result. A failure is a HostError."""
        result = self._action._execute_module(module_name=module, module_args=arguments, task_vars=self._task_vars)
        if result.get("failed"):
            raise HostError(self.host, result)
        return dict(result)

    @property
    def exchange(self) -> str:
        """A temporary directory there, of the connection's user; made when first asked for."""
        if not self._exchange:
            shell = self._action._connection._shell
            self._exchange = shell.tmpdir or self._action._make_tmp_path()
        return self._exchange

    def prepare_bulk(self) -> None:
        """Go on without OpenSSH's own compression, before much is copied.

        Ansible asks for it by default (``-C``): zlib in one thread, about 20 MB/s, and what we copy is compressed
        already. A shared connection keeps what it was opened with, so another one is opened beside it.
        """
        connection = self._action._connection
        try:
            arguments = connection.get_option("ssh_args") or ""
            control_path = connection.get_option("control_path")
        except KeyError:
            return  # not OpenSSH
        plain = " ".join(word for word in arguments.split() if word != "-C")
        if plain == " ".join(arguments.split()):
            return
        if not control_path:
            name = f"{connection.get_option('host')}-{connection.get_option('port')}-{connection.get_option('remote_user')}"
            control_path = "%(directory)s/" + hashlib.sha256(name.encode()).hexdigest()[:10]
        connection.set_option("ssh_args", plain)
        connection.set_option("control_path", control_path + "-plain")

    def fetch(self, path: str, local: str) -> None:
        """Copy a file from the host to this machine."""
        self._action._connection.fetch_file(path, local)

    def put(self, local: str, name: str) -> str:
        """Copy a file of this machine into the exchange directory and return its path there."""
        path = self._action._connection._shell.join_path(self.exchange, name)
        self._action._transfer_file(local, path)
        self._action._fixup_perms2([self.exchange, path], execute=False)
        return path

    def close(self) -> None:
        """Remove the exchange directory."""
        if self._exchange:
            self._action._remove_tmp_path(self._exchange, force=True)
            self._exchange = ""


class _Remote(BuildsAlone):
    """Carries Ansible's machinery for the other host; it has no task of its own to run."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        raise NotImplementedError


def connect(host: str, action: ActionBase, task_vars: dict[str, Any]) -> HostSide:
    """The *host* of the inventory, reached as the play would reach it, with the task's own `become`."""
    variables = dict(task_vars["hostvars"].raw_get(host))
    variables["hostvars"] = task_vars["hostvars"]
    variables.setdefault("ansible_facts", {})
    loader: DataLoader = action._loader
    templar = Templar(loader=loader, variables=variables)
    task: Task = action._task.copy()
    task.delegate_to = None
    secrets = _secrets(action._play_context, task_vars)
    connection, play_context = _connection(task, secrets, variables, templar)
    remote = _Remote(task, connection, play_context, loader, templar, action._shared_loader_obj)
    return HostSide(host, remote, variables)


def _connection(
    task: Task, secrets: dict[str, str], variables: dict[str, Any], templar: Templar
) -> tuple[ConnectionBase, PlayContext]:
    context = PlayContext(passwords=secrets).set_task_and_variable_override(task, variables, templar)
    context.post_validate(templar)
    kind = templar.template(variables.get("ansible_connection", task.connection or "ssh"))
    connection = connection_loader.get(
        "ssh" if kind == "smart" else kind,
        context,
        None,
        task_uuid=task._uuid,
        ansible_playbook_pid=str(os.getppid()),
    )
    if connection is None:
        raise AnsibleError(f"there is no connection plugin {kind!r}")

    keys = task.dump_attrs()
    keys.pop("retries", None)
    keys["timeout"] = context.timeout
    keys["password"] = context.password or None
    settings = {
        name: templar.template(value)
        for name, value in variables.items()
        if (name.startswith("ansible_") and name != "ansible_facts") or name == "inventory_hostname"
    }
    become = _become(task, settings)
    connection.set_become_plugin(become)
    connection.set_options(task_keys=keys, var_options=settings)
    connection._shell.set_options(task_keys=keys, var_options=settings)
    if become:
        become.set_options(task_keys={**keys, "become_pass": context.become_pass or None}, var_options=settings)
    return connection, context


def _become(task: Task, settings: dict[str, Any]) -> Any:
    wanted = settings.get("ansible_become")
    if not boolean(task.become if wanted is None else wanted, strict=False):
        return None
    return become_loader.get(settings.get("ansible_become_method") or task.become_method or "sudo")


def _secrets(own: PlayContext, task_vars: dict[str, Any]) -> dict[str, str]:
    """The passwords of the command line (-k, -K), which are for every host; those of the task's host are not."""
    secrets = {"conn_pass": own.password, "become_pass": own.become_pass}
    for key, option in (("conn_pass", "password"), ("become_pass", "become_pass")):
        if any(name in task_vars for name in C.MAGIC_VARIABLE_MAPPING[option]):
            secrets[key] = ""
    return secrets
