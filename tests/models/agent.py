"""The server on stdio, as an editor with the agent methods speaks to it.

    server = Server(home, project)
    session = open_session(server, project)
    updates, answer = prompt(server, session, "hello")
"""
import json
import os
import queue
import subprocess
import threading
import time
from pathlib import Path
from typing import Any, Callable

# Seconds for one answer of the server.
PATIENCE = 400
AGENT = {
    "protocolVersion": 1,
    "clientCapabilities": {},
    "methods": ["session/new", "session/prompt", "session/cancel", "session/update", "session/request_permission"],
    "trustedSettings": False,
}


class Failed(Exception):
    """The test has failed; the message says how."""


def fail(message: str) -> None:
    raise Failed(message)


class Server:
    """The server on stdio, spoken to as an editor speaks: whole messages, requests answered in time."""

    def __init__(self, home: Path, project: Path, log: Path, flags: list[str] | None = None):
        environment = {**os.environ, "UNDINE_CONFIG_DIR": str(home / "config"), "UNDINE_DATA_DIR": str(home / "data"), "UNDINE_NO_KEYRING": "1"}
        self._log = open(log, "wb")
        self._process = subprocess.Popen(
            [os.environ["UNDINE_BIN"], *(flags or []), "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, env=environment, cwd=project
        )
        self._inbox: queue.Queue[dict | None] = queue.Queue()
        self._id = 0
        threading.Thread(target=self._read, daemon=True).start()

    def notify(self, method: str, params: dict) -> None:
        self._send({"method": method, "params": params})

    def request(self, method: str, params: dict | None, on_message: Callable[[dict], None] = lambda _: None) -> Any:
        """The result; meanwhile each message of the server goes to `on_message` and its requests are refused."""
        self._id += 1
        self._send({"id": self._id, "method": method, "params": params})
        end = time.monotonic() + PATIENCE
        while True:
            try:
                message = self._inbox.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                fail(f"{method} was not answered within {PATIENCE} s")
            if message is None:
                fail(f"the server ended while {method} was open")
            if "method" not in message:
                if "error" in message:
                    fail(f"{method} was answered with an error: {json.dumps(message['error'])}")
                return message["result"]
            if "id" in message:
                self._answer(message)
            on_message(message)

    def exit(self) -> int:
        self.request("shutdown", None)
        self._send({"method": "exit"})
        try:
            return self._process.wait(20)
        except subprocess.TimeoutExpired:
            fail("the server did not end within 20 s of exit")

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def _answer(self, message: dict) -> None:
        """Nothing that the model thinks up is allowed to happen."""
        if message["method"] == "session/request_permission":
            refusal = next(it for it in message["params"]["options"] if it["kind"].startswith("reject"))
            result: Any = {"outcome": {"outcome": "selected", "optionId": refusal["optionId"]}}
        else:
            result = None
        self._send({"id": message["id"], "result": result})

    def _send(self, message: dict) -> None:
        body = json.dumps({"jsonrpc": "2.0", **{key: value for key, value in message.items() if key != "params" or value is not None}}).encode()
        try:
            self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
            self._process.stdin.flush()
        except BrokenPipeError:
            fail("the server has closed its standard input")

    def _read(self) -> None:
        out = self._process.stdout
        while head := out.readline():
            length = 0
            while head not in (b"\r\n", b""):
                if head.lower().startswith(b"content-length:"):
                    length = int(head.split(b":")[1])
                head = out.readline()
            self._inbox.put(json.loads(out.read(length)))
        self._inbox.put(None)


def open_session(server: Server, project: Path) -> str:
    """Introduces an editor, and opens a session in the project."""
    capabilities = {"experimental": {"agent": AGENT}}
    folder = {"uri": project.as_uri(), "name": project.name}
    hello = {"processId": os.getpid(), "rootUri": project.as_uri(), "workspaceFolders": [folder], "capabilities": capabilities}
    answer = server.request("initialize", hello)
    if "agent" not in answer["capabilities"].get("experimental", {}):
        fail("initialize does not offer capabilities.experimental.agent")
    server.notify("initialized", {})
    return server.request("session/new", {"cwd": str(project), "mcpServers": []})["sessionId"]


def prompt(server: Server, session: str, text: str, on_update: Callable[[], None] = lambda: None) -> tuple[list[dict], dict]:
    """All updates of a turn, and the answer to its prompt."""
    updates: list[dict] = []

    def heard(message: dict) -> None:
        if message["method"] == "session/update":
            updates.append(message["params"]["update"])
        on_update()

    params = {"sessionId": session, "prompt": [{"type": "text", "text": text}]}
    return updates, server.request("session/prompt", params, heard)


def said(updates: list[dict]) -> str:
    """The text of the model's answers."""
    return "".join(it["content"].get("text", "") for it in updates if it["sessionUpdate"] == "agent_message_chunk")
