"""The wire formats of `tests/bench`: what a long answer costs in each, from the model's bytes to the editor's text.

Each has a server and a model of its own. The model's thread writes every delta in an HTTP chunk and a system call of its own, as
fast as the server takes them. The text that the editor gets is compared whole; a slow editor gets fewer and longer pieces of it.
"""
import json
import queue
import socket
import threading
from pathlib import Path
from typing import Any, Callable

Row = Callable[..., None]
DELTAS = 100_000
DELTA = "5char"


def event(kind: str, **fields: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"


def chat(text: str) -> tuple[str, str, str]:
    def chunk(delta: dict[str, Any], reason: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return f"data: {json.dumps({'id': 'c', 'object': 'chat.completion.chunk', 'model': 'm', 'choices': [choice]})}\n\n"

    return chunk({"role": "assistant", "content": ""}), chunk({"content": DELTA}), chunk({}, "stop") + "data: [DONE]\n\n"


def messages(text: str) -> tuple[str, str, str]:
    message = {"id": "msg", "type": "message", "role": "assistant", "model": "m", "content": [],
               "usage": {"input_tokens": 1, "output_tokens": 1}}
    head = event("message_start", message=message)
    head += event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    delta = event("content_block_delta", index=0, delta={"type": "text_delta", "text": DELTA})
    tail = event("content_block_stop", index=0)
    tail += event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 1}) + event("message_stop")
    return head, delta, tail


def responses(text: str) -> tuple[str, str, str]:
    place = {"item_id": "msg", "output_index": 0, "content_index": 0}
    item = {"id": "msg", "type": "message", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}]}
    head = event("response.created", response={"id": "r", "status": "in_progress", "output": []})
    head += event("response.output_item.added", output_index=0, item={**item, "status": "in_progress", "content": []})
    delta = event("response.output_text.delta", **place, delta=DELTA)
    tail = event("response.output_item.done", output_index=0, item=item)
    tail += event("response.completed", response={"id": "r", "status": "completed", "output": [item],
                                                   "usage": {"input_tokens": 1, "output_tokens": 1}})
    return head, delta, tail


def gemini(text: str) -> tuple[str, str, str]:
    def chunk(text: str, **end: str) -> str:
        candidate = {"content": {"role": "model", "parts": [{"text": text}]}, "index": 0, **end}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        return f"data: {json.dumps({'candidates': [candidate], 'usageMetadata': usage, 'modelVersion': 'm'})}\n\n"

    return "", chunk(DELTA), chunk("", finishReason="STOP")


def ollama(text: str) -> tuple[str, str, str]:
    def line(text: str, **end: Any) -> str:
        message = {"role": "assistant", "content": text}
        return json.dumps({"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": message, **end}) + "\n"

    return "", line(DELTA, done=False), line("", done=True, done_reason="stop", prompt_eval_count=1, eval_count=1)


# The kind of the provider, the path of its base URL, and head, delta and tail of an answer.
FORMATS: list[tuple[str, str, Callable[[str], tuple[str, str, str]]]] = [
    ("openai-compatible", "/v1", chat),
    ("anthropic", "", messages),
    ("openai", "/v1", responses),
    ("gemini", "", gemini),
    ("ollama", "", ollama),
]


def chunked(body: str) -> bytes:
    data = body.encode()
    return b"%x\r\n%s\r\n" % (len(data), data) if data else b""


class Model:
    """Gives the same answer to every request for one; counts the connections that asked."""

    def __init__(self, made: Callable[[str], tuple[str, str, str]]) -> None:
        self.head, self.delta, self.tail = (chunked(it) for it in made(DELTA * DELTAS))
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.asked_on: "queue.Queue[int]" = queue.Queue()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        number = 0
        while True:
            connection, _ = self.listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            number += 1
            threading.Thread(target=self.serve, args=(connection, number), daemon=True).start()

    def serve(self, connection: socket.socket, number: int) -> None:
        reader = connection.makefile("rb")
        while line := reader.readline():
            length = 0
            while (header := reader.readline().strip()) != b"":
                name, _, value = header.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            reader.read(length)
            path = line.split(b" ")[1]
            if not any(it in path for it in (b"/chat", b"/messages", b"/responses", b":stream")):
                # What a server is asked about itself.
                connection.sendall(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
                continue
            self.asked_on.put(number)
            connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n" + self.head)
            for _ in range(DELTAS):
                connection.sendall(self.delta)
            connection.sendall(self.tail + b"0\r\n\r\n")


def measure(start: Callable[[Path, str, str], Any], folder: Path, times: int, row: Row) -> None:
    """`start` starts a server for a kind of provider at a URL, and gives the editor that talks to it."""
    for kind, path, made in FORMATS:
        model = Model(made)
        own = folder / kind
        own.mkdir()
        editor = start(own, kind, model.url + path)
        costs, rates, grown, connections = [], [], [], set()
        # The first turn makes what stays.
        for turn in range(max(3, times // 5) + 1):
            session = editor.session()
            cpu, memory = editor.cpu(), editor.status("VmRSS")
            id = editor.prompt(session)
            pieces, arrived = [], []
            while True:
                at, message = editor.messages.get(timeout=60)
                update = message.get("params", {}).get("update", {})
                if update.get("sessionUpdate") == "agent_message_chunk":
                    pieces.append(update["content"]["text"])
                    arrived.append(at)
                if message.get("id") == id:
                    break
            if "error" in message:
                raise SystemExit(f"the turn failed with {kind}: {message['error']}")
            if "".join(pieces) != DELTA * DELTAS:
                raise SystemExit(f"with {kind}, the text did not arrive whole")
            connections.add(model.asked_on.get())
            if turn:
                costs.append(editor.cpu() - cpu)
                rates.append(DELTAS / (arrived[-1] - arrived[0]))
                grown.append((editor.status("VmRSS") - memory) / 1024)
        row(f"{kind}: CPU for {DELTAS:,} deltas", costs, "s", f"{len(connections)} connection of {turn + 1} turns")
        row(f"{kind}: deltas", rates, "per s", f"{len(pieces)} notifications")
        row(f"{kind}: memory a turn adds", grown, "MiB", "asked <= 10")
        editor.close()
