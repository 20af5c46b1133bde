"""Stands between a server under test and a model, and keeps what was asked.

    relay = Relay("http://127.0.0.1:1234")
    ... point the server at relay.url ...
    relay.requests      # the bodies of what the model was asked, in order
    relay.asides        # the paths of what else was posted

Answers go through as they come, so streams stay streams.
"""
import http.client
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit


# Where a server is asked about a model, which is not the model.
ABOUT = ("/api/show",)


class Relay:
    def __init__(self, model: str):
        self.requests: list[dict] = []
        self.asides: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler(urlsplit(model).netloc))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(self, model: str) -> type[BaseHTTPRequestHandler]:
        requests, asides = self.requests, self.asides

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._pass_on(b"")

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                if self.path in ABOUT:
                    asides.append(self.path)
                else:
                    requests.append(json.loads(body))
                self._pass_on(body)

            def _pass_on(self, body: bytes) -> None:
                there = http.client.HTTPConnection(model)
                told = {key: value for key, value in self.headers.items() if key.lower() not in ("host", "content-length", "connection")}
                there.request(self.command, self.path, body, told)
                answer = there.getresponse()
                self.send_response(answer.status)
                for key, value in answer.getheaders():
                    if key.lower() not in ("transfer-encoding", "connection", "content-length"):
                        self.send_header(key, value)
                self.end_headers()
                try:
                    while piece := answer.read1(1 << 16):
                        self.wfile.write(piece)
                except (BrokenPipeError, ConnectionResetError):
                    pass  # the server under test has left; leaving the model ends its answer
                there.close()

            def log_message(self, *_: Any) -> None:
                pass

        return Handler
