# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The question to the installed SGLang: what would your own parser say to these arguments?

PRIVATE to the collection: it can change in any release.
"""

from __future__ import annotations

# Runs under the venv's interpreter, without a GPU, in 5 to 11 s (importing sglang). Reads
# {argument: true | false | [words]} as JSON on stdin; writes JSON on the first stdout there was, because
# importing prints warnings on both streams:
#   {"version": "0.5.23", "options": ["--model-path", ...],
#    "arguments": {argument: {"option", "kind", "single", "error"} | {"ambiguous": [...]} | {}}}
# kind is `flag` (store_true), `value`, `toggle` (--x/--no-x) or `other`; the last two are what SGLang's
# --config merger refuses (sglang/srt/utils/server_args_config_parser.py, 0.5.23).
SCRIPT = r"""
import argparse, json, os, sys
answer_to = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
requested = json.load(sys.stdin)
from importlib.metadata import version
from sglang.srt.server_args import ServerArgs

parser = argparse.ArgumentParser()
ServerArgs.add_cli_args(parser)
known = parser._option_string_actions
toggle = getattr(argparse, "BooleanOptionalAction", ())

def kind(action):
    if isinstance(action, toggle):
        return "toggle"
    if isinstance(action, argparse._StoreTrueAction):
        return "flag"
    if isinstance(action, argparse._StoreAction) or action.nargs is None:
        return "value"
    return "other"

def verdict(key, value):
    option = "--" + key
    if option not in known:
        near = {id(known[o]): o for o in sorted(known, reverse=True) if o.startswith(option)}
        if len(near) != 1:
            return {"ambiguous": sorted(near.values())} if near else {}
        option = list(near.values())[0]
    action = known[option]
    error = ""
    if not isinstance(value, bool):
        try:
            parser._get_values(action, value)
        except argparse.ArgumentError as refusal:
            error = refusal.message
        if action.nargs is None and len(value) != 1:
            error = "expected one value"
    return {"option": option, "kind": kind(action), "single": action.nargs in (None, "?"), "error": error}

json.dump({
    "version": version("sglang"),
    "options": sorted(known),
    "arguments": {key: verdict(key, value) for key, value in requested.items()},
}, answer_to)
"""
