# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The HTTP shapes of SGLang 0.5.23 that deployments and probes speak."""

from __future__ import annotations

import http.server
import json
import threading
import time
import uuid
from typing import Any

from sglang.standin import startup

OPEN_PATHS = ("/health", "/ready", "/metrics")  # everything else needs the key, as in 0.5.23


class Handler(http.server.BaseHTTPRequestHandler):
    """One request. `server.engine` is the main process (launch_server.Engine)."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        """Health, models and information."""
        self._dispatch(None)

    def do_POST(self) -> None:
        """Generation."""
        length = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(length) if length else b""
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            self._send(400, {"object": "error", "message": "Invalid JSON", "type": "BadRequest", "code": 400})
            return
        self._dispatch(body if isinstance(body, dict) else {})

    def _dispatch(self, body: dict[str, Any] | None) -> None:
        engine = self.server.engine
        engine.blocked.wait()  # during crash diagnostics the real event loop answers nobody
        path = self.path.partition("?")[0].rstrip("/") or "/"
        if engine.args.node_rank:
            self._send(200 if path in ("/health", "/health_generate", "/ping") else 404, None)
            return
        key = engine.args.api_key
        if key and not path.startswith(OPEN_PATHS) and self.headers.get("Authorization") != f"Bearer {key}":
            self._send(401, {"error": "Unauthorized"})
            return
        name = engine.args.served_model_name
        if path in ("/health", "/health_generate"):
            self._health()
        elif path in ("/ready", "/ping"):
            self._send(200 if engine.up and not engine.draining else 503, None)
        elif path == "/v1/models":
            card = {"id": name, "object": "model", "created": int(time.time()), "owned_by": "sglang", "root": name}
            self._send(200, {"object": "list", "data": [dict(card, parent=None, max_model_len=2048)]})
        elif path in ("/model_info", "/get_model_info"):
            info = {"model_path": engine.args.model_path, "tokenizer_path": engine.args.tokenizer_path}
            self._send(200, dict(info, is_generation=True, has_image_understanding=False, model_type="standin"))
        elif path in ("/server_info", "/get_server_info"):
            public = {k: v for k, v in vars(engine.args).items() if k not in ("api_key", "admin_api_key")}
            self._send(200, dict(public, version="0.5.23", frontend="python", internal_states=[{}]))
        elif path == "/freeze_gc":
            self._send(200, None)
        elif path == "/v1/chat/completions" and body is not None:
            self._chat(body)
        elif path == "/generate" and body is not None:
            text, tokens = self._generate(str(body.get("text", "")), body.get("sampling_params") or {}, False)
            self._send(
                200, {"text": text, "meta_info": {"completion_tokens": tokens, "finish_reason": {"type": "stop"}}}
            )
        else:
            self._send(404, {"detail": "Not Found"})

    def _health(self) -> None:
        engine = self.server.engine
        if engine.draining:
            startup.log("Health check request received during shutdown. Returning 503.")
        if not engine.up or engine.draining:
            self._send(503, None)
            return
        answered = engine.ask({"prompt_tokens": 1}, 20.0)
        self._send(200 if answered else 503, None)

    def _chat(self, body: dict[str, Any]) -> None:
        messages = body.get("messages") or []
        image = any(
            isinstance(part, dict) and part.get("type") == "image_url"
            for message in messages
            for part in (message.get("content") if isinstance(message.get("content"), list) else [])
        )
        text, tokens = self._generate(json.dumps(messages), body, image)
        message = {"role": "assistant", "content": text, "tool_calls": None}
        script = self.server.engine.script
        if script.reasoning:
            message["reasoning_content"] = script.reasoning
        usage = {"prompt_tokens": 17, "completion_tokens": tokens, "total_tokens": 17 + tokens}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop", "matched_stop": 0}
        answer = {"id": uuid.uuid4().hex, "object": "chat.completion", "created": int(time.time())}
        answer.update({"model": body.get("model"), "choices": [choice], "usage": usage})
        self._send(200, answer)

    def _generate(self, prompt: str, parameters: dict[str, Any], image: bool) -> tuple[str, int]:
        """Ask every rank, take the time that the tokens would take, and return text and token count."""
        engine = self.server.engine
        words = engine.script.answer.split(" ")
        limit = int(parameters.get("max_tokens") or parameters.get("max_new_tokens") or 128)
        if engine.script.fault == "garbage":
            words = ["!" * limit]
        elif parameters.get("ignore_eos"):
            words = (words * limit)[:limit]
        with engine.in_flight():
            engine.ask({"prompt_tokens": max(1, len(prompt) // 4), "image": image}, None)
            tokens = min(limit, max(1, len(words)))
            time.sleep(engine.script.latency_seconds + tokens * engine.script.seconds_per_token)
        return " ".join(words[:limit]), tokens

    def _send(self, status: int, payload: dict[str, Any] | None) -> None:
        data = b"" if payload is None else json.dumps(payload).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Write uvicorn's access line."""
        del size
        phrase = self.responses[http.HTTPStatus(int(code))][0] if str(code).isdigit() else ""
        host, port = self.client_address[:2]
        startup.log(f'INFO:     {host}:{port} - "{self.command} {self.path} HTTP/1.1" {int(code)} {phrase}')


class Server(http.server.ThreadingHTTPServer):
    """Bound only once every rank is up, like the real one."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], engine: Any) -> None:
        self.engine = engine
        super().__init__(address, Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no line in the log."""

    def serve_in_background(self) -> None:
        """Accept connections in a thread; the main thread keeps the signals."""
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.2}, daemon=True).start()
