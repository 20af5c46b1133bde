"""A model that says what a test has written down, over Chat Completions on loopback.

    model = ScriptedModel()
    model.will(says("Looking."), calls("read_file", {"path": "a.txt"}))     # one answer: text, then a call
    model.will(says("It is empty."))                                        # the next answer
    ... point a server at model.url ...
    request = model.request(0)                                              # waits for the first request
    model.close()                                                           # what was not as expected is an error

Answers are streamed as server-sent events, or sent whole when the request does not ask for a stream. A request that offers no
tools is a side question (a title, a summary): it is answered "ok" and takes nothing from the script.
"""
import json
import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# Long enough for a slow machine; a test that passes never waits this long.
PATIENCE = 60


def says(*pieces: str) -> list[dict]:
    """Text, one delta a piece."""
    return [{"content": it} for it in pieces]


def calls(name: str, arguments: dict[str, Any], id: str = "call_1", index: int = 0) -> list[dict]:
    """A tool call; its arguments come in two deltas, as real models send them."""
    text = json.dumps(arguments)
    middle = len(text) // 2
    head = {"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": text[:middle]}}
    tail = {"index": index, "function": {"arguments": text[middle:]}}
    return [{"tool_calls": [head]}, {"tool_calls": [tail]}]


class Gate:
    """Holds an answer in the middle: its deltas after the gate are sent when the test opens it, or never if the client leaves."""

    def __init__(self):
        self.reached = threading.Event()
        self.opened = threading.Event()


class ScriptedModel:
    def __init__(self):
        self._answers: "queue.Queue[list]" = queue.Queue()
        self._requests: list[dict] = []
        # Guards the requests: they arrive on the HTTP server's threads while the test reads them.
        self._arrived = threading.Condition()
        self.side_requests: list[dict] = []
        self.faults: list[str] = []
        self.gates: list[Gate] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def will(self, *parts: list[dict] | Gate) -> None:
        """Adds the next answer, made of `says`, `calls` and `Gate`s."""
        answer: list = []
        for part in parts:
            if isinstance(part, Gate):
                self.gates.append(part)
                answer.append(part)
            else:
                answer += part
        self._answers.put(answer)

    def request(self, n: int) -> dict:
        """The body of the request number `n`, from 0; waits until it has come."""
        with self._arrived:
            if not self._arrived.wait_for(lambda: len(self._requests) > n, PATIENCE):
                raise AssertionError(f"the model got {len(self._requests)} requests, not {n + 1}; faults: {self.faults}")
            return self._requests[n]

    def close(self) -> None:
        for gate in self.gates:
            gate.opened.set()
        self._server.shutdown()
        self._server.server_close()
        left = self._answers.qsize()
        if left:
            self.faults.append(f"{left} answers were not asked for")
        if self.faults:
            raise AssertionError("; ".join(self.faults))

    def _take(self, body: dict) -> list:
        if not body.get("tools"):
            self.side_requests.append(body)
            return says("ok")
        with self._arrived:
            self._requests.append(body)
            self._arrived.notify_all()
        try:
            return self._answers.get_nowait()
        except queue.Empty:
            last = body.get("messages", [None])[-1]
            self.faults.append(f"request {len(self._requests)} has no answer in the script; its last message: {json.dumps(last)[:400]}")
            return says("There is no answer for this in the script.")

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                if self.path == "/v1/models":
                    self._json(200, {"object": "list", "data": [{"id": "scripted-1", "object": "model"}]})
                else:
                    self._json(404, {"error": {"message": f"no such path: {self.path}", "type": "invalid_request_error"}})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
                if self.path != "/v1/chat/completions":
                    self._json(404, {"error": {"message": f"no such path: {self.path}", "type": "invalid_request_error"}})
                    return
                answer = model._take(body)
                if body.get("stream"):
                    self._stream(answer)
                else:
                    self._json(200, whole(answer))

            def _stream(self, answer: list) -> None:
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("connection", "close")
                self.end_headers()
                self.close_connection = True
                try:
                    self._event(chunk({"role": "assistant", "content": ""}))
                    for part in answer:
                        if isinstance(part, Gate):
                            part.reached.set()
                            part.opened.wait(PATIENCE)
                        else:
                            self._event(chunk(part))
                    self._event(chunk({}, finish(answer)))
                    self._event({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": "scripted-1", "choices": [], "usage": USAGE})
                    self.wfile.write(b"data: [DONE]\n\n")
                except (BrokenPipeError, ConnectionResetError):
                    # The client left: a cancelled turn.
                    pass

            def _event(self, data: dict) -> None:
                self.wfile.write(b"data: " + json.dumps(data).encode() + b"\n\n")
                self.wfile.flush()

            def _json(self, status: int, data: dict) -> None:
                body = json.dumps(data).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        return Handler


USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}


def chunk(delta: dict, finish_reason: str | None = None) -> dict:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": "scripted-1", "choices": [choice]}


def finish(answer: list) -> str:
    return "tool_calls" if any("tool_calls" in it for it in answer if isinstance(it, dict)) else "stop"


def whole(answer: list) -> dict:
    """The same answer for a request without a stream. Only side questions come without one, so it is text."""
    text = "".join(it.get("content", "") for it in answer if isinstance(it, dict))
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish(answer)}
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": "scripted-1", "choices": [choice], "usage": USAGE}
