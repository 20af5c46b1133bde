"""The wire between an editor and the real server: every message is written down, and a test can hold one back.

    wire = Wire(folder, [server, "lsp"], environment)
    ... an editor is started whose server command is wire.command ...
    edit = wire.hold("workspace/applyEdit")         # the next one stays here
    edit.arrived(); ...; edit.pass_on()
    wire.reply("workspace/applyEdit")               # what the editor answered to the last such request

A held message holds back only itself: what comes behind it overtakes it. That is what makes an edit late: the person's typing goes
the other way and is with the server while the edit is still under way.
"""
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, BinaryIO, Callable, Iterator

# The longest wait for an event; only a failing test waits this long.
PATIENCE = 30
DOOR = Path(__file__).with_name("door.py")


class Held:
    """A message that is kept back until the test passes it on."""

    def __init__(self, method: str):
        self.method = method
        self.message: dict | None = None
        self._arrived = threading.Event()
        self._passed = threading.Event()

    def take(self, message: dict, deliver: Callable[[dict], None]) -> None:
        self.message = message
        self._arrived.set()

        def wait_and_deliver() -> None:
            self._passed.wait(2 * PATIENCE)
            deliver(message)

        threading.Thread(target=wait_and_deliver, daemon=True).start()

    def arrived(self) -> dict:
        assert self._arrived.wait(PATIENCE), f"the server sent no {self.method}"
        assert self.message is not None
        return self.message

    def pass_on(self) -> None:
        self._passed.set()


class Wire:
    def __init__(self, folder: Path, server: list[str], environment: dict[str, str]):
        # The address of a socket must be short, which a test's own folder need not be.
        self._folder = tempfile.TemporaryDirectory(prefix="undine-")
        address = Path(self._folder.name) / "wire"
        self.command = [sys.executable, str(DOOR), str(address)]
        self.log = folder / "messages.jsonl"
        self.exit_code: int | None = None
        # Guards what follows: two threads pass messages on while the test looks at them.
        self._changed = threading.Condition()
        self._messages: list[tuple[str, dict]] = []
        self._holds: list[Held] = []
        self._server = server
        self._environment = environment
        self._errors = open(folder / "server.log", "wb")
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(address))
        self._listener.listen(1)
        self._ended = threading.Event()
        threading.Thread(target=self._serve, daemon=True).start()

    def wait(self, holds: Callable[[list[tuple[str, dict]]], Any], what: str) -> Any:
        """Waits until this is true of all messages so far."""
        with self._changed:
            value = None

            def look() -> bool:
                nonlocal value
                value = holds(self._messages)
                return bool(value)

            assert self._changed.wait_for(look, PATIENCE), f"waited {PATIENCE} s for {what}"
            return value

    def count(self, method: str) -> int:
        with self._changed:
            return sum(it.get("method") == method for _, it in self._messages)

    def sent(self, method: str, n: int = 1) -> dict:
        """Waits for the message number `n` with this method, from either side, and returns its params."""
        found = lambda all: [it for _, it in all if it.get("method") == method][n - 1 : n]
        return self.wait(found, f"{method} number {n}")[0].get("params", {})

    def comes(self, method: str, n: int, within: float) -> bool:
        """Whether there is a message number `n` with this method at the end of so many seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: sum(it.get("method") == method for _, it in self._messages) >= n, within)

    def reply(self, method: str, n: int = 1) -> dict:
        """Waits for the reply to the request number `n` with this method; the message whole, with its result or its error."""

        def found(all: list[tuple[str, dict]]) -> list[dict]:
            asked = [(side, it["id"]) for side, it in all if it.get("method") == method and "id" in it][n - 1 : n]
            return [it for side, it in all for by, id in asked if "method" not in it and it.get("id") == id and side != by]

        return self.wait(found, f"the reply to {method} number {n}")[0]

    def all(self, method: str) -> list[dict]:
        """The params of all messages with this method so far."""
        with self._changed:
            return [it.get("params", {}) for _, it in self._messages if it.get("method") == method]

    def hold(self, method: str) -> Held:
        """Keeps back the next message of the server with this method."""
        held = Held(method)
        with self._changed:
            self._holds.append(held)
        return held

    def ended(self) -> int:
        """Waits until the server has ended, and returns its exit code."""
        assert self._ended.wait(PATIENCE), "the server has not ended"
        assert self.exit_code is not None
        return self.exit_code

    def close(self) -> None:
        """Ends what is left. The log is whole then."""
        for held in self._holds:
            held.pass_on()
        self._listener.close()
        self._folder.cleanup()
        with self._changed:
            lines = [json.dumps({"dir": side, "m": message}) + "\n" for side, message in self._messages]
        self.log.write_text("".join(lines))

    def _serve(self) -> None:
        try:
            editor, _ = self._listener.accept()
        except OSError:
            # Closed before an editor came.
            return
        server = subprocess.Popen(
            self._server, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, env={**os.environ, **self._environment}
        )
        to_editor = editor.makefile("wb", buffering=0)
        # A held message is sent by another thread than the rest; each is written in one piece.
        writing = threading.Lock()

        def to_server(message: dict) -> None:
            self._pass("c->s", message, server.stdin, threading.Lock())

        def back(message: dict) -> None:
            with self._changed:
                held = next((it for it in self._holds if it.method == message.get("method") and not it.message), None)
                if held:
                    held.take(message, deliver)
            if not held:
                deliver(message)

        def deliver(message: dict) -> None:
            self._pass("s->c", message, to_editor, writing)

        def inward() -> None:
            for message in frames(editor.makefile("rb")):
                to_server(message)
            try:
                server.stdin.close()
            except OSError:
                pass

        threading.Thread(target=inward, daemon=True).start()
        for message in frames(server.stdout):
            back(message)
        self.exit_code = server.wait()
        editor.close()
        self._ended.set()

    def _pass(self, side: str, message: dict, sink: BinaryIO, writing: threading.Lock) -> None:
        # Written down before it is passed on, so that a reply never stands before its request.
        with self._changed:
            self._messages.append((side, message))
            self._changed.notify_all()
        body = json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass")
        try:
            with writing:
                sink.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
                sink.flush()
        except (OSError, ValueError):
            # The other side has gone.
            pass


def frames(source: BinaryIO) -> Iterator[dict]:
    """The messages of one side, until it ends or is gone."""
    while True:
        length = None
        try:
            while (line := source.readline()) not in (b"\r\n", b""):
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            body = source.read(length or 0)
        except ConnectionResetError:
            return
        if not body:
            return
        yield json.loads(body)
