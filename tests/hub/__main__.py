# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Start both origins: ``PYTHONPATH=tests python3 -m hub --root DIR --port 8090 --cdn-port 8091``."""

from __future__ import annotations

import argparse
import json
import os
import signal
import ssl
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path
from types import FrameType

from hub.api import Hub, Quota
from hub.cdn import Cdn
from hub.control import Control
from hub.signing import Signer
from hub.store import Store


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is everyday life here, not worth a traceback."""


class Pair:
    """The hub and its CDN as two servers of one process; port 0 takes a free port.

    With *certificate*, a file of a key and its certificate, both speak TLS.
    """

    def __init__(
        self,
        root: Path,
        host: str,
        port: int,
        cdn_port: int,
        tokens: list[str],
        quota: int = 100_000,
        certificate: Path | None = None,
    ) -> None:
        control, store, signer = Control(), Store(root), Signer()
        cdn_class = type("BoundCdn", (Cdn,), {"control": control, "store": store, "signer": signer})
        self.cdn = Server((host, cdn_port), cdn_class)
        bound = {
            "control": control,
            "store": store,
            "signer": signer,
            "tokens": frozenset(tokens),
            "quotas": {"api": Quota(quota), "resolvers": Quota(quota)},
            "cdn_port": self.cdn.server_port,
            "scheme": "https" if certificate else "http",
        }
        self.hub = Server((host, port), type("BoundHub", (Hub,), bound))
        self.control = control
        self.url = f"{bound['scheme']}://{host}:{self.hub.server_port}"
        if certificate:
            for server in (self.cdn, self.hub):
                _speak_tls(server, certificate)

    def start(self) -> None:
        for server in (self.cdn, self.hub):
            threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        for server in (self.cdn, self.hub):
            server.shutdown()
            server.server_close()


def _speak_tls(server: Server, certificate: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    # The handshake belongs to the thread of the connection: whoever stalls in it must not hold up the others.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)


def main() -> None:
    parser = argparse.ArgumentParser(prog="hub", description="A local hub with the shapes of the Hugging Face Hub.")
    parser.add_argument("--root", type=Path, required=True, help="holds <organisation>/<name>/<files>")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8090)
    parser.add_argument("--cdn-port", type=int, default=8091)
    parser.add_argument(
        "--token", action="append", default=[], help="a token the hub knows; may be repeated; without any, all are good"
    )
    parser.add_argument("--quota", type=int, default=100_000, help="requests in each 300 s window")
    parser.add_argument("--certificate", type=Path, help="a file of a key and its certificate, to speak TLS with")
    parser.add_argument("--state", type=Path, help="write the address and the process id here once listening")
    arguments = parser.parse_args()
    pair = Pair(
        arguments.root,
        arguments.host,
        arguments.port,
        arguments.cdn_port,
        arguments.token,
        arguments.quota,
        arguments.certificate,
    )
    stopping = threading.Event()

    def stop(_signal: int, _frame: FrameType | None) -> None:
        stopping.set()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    pair.start()
    if arguments.state:
        arguments.state.write_text(json.dumps({"url": pair.url, "pid": os.getpid()}) + "\n")
    print(f"hub: {pair.url}", flush=True)
    stopping.wait()
    pair.stop()


if __name__ == "__main__":
    main()
