#!/usr/bin/env python3
"""One turn with a real model: the server is asked to read a file, and the model must ask for that file.

    turn.py MODEL.gguf            UNDINE_BIN names the server

Serves the model on loopback, starts the server as an editor with the agent methods does, and asks it to read src/main.rs.
What holds is checked, not how clever the answer is: the model is asked with the tools, text streams or a call of `read_file`
with that path arrives, its result goes back to the model, and the turn ends with a reason. The model is very small;
`template.jinja` and the sentence below are what it can do.
"""
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Callable

from relay import Relay

SENTENCE = "Read the file src/main.rs"
FILE = "src/main.rs"
TEXT = 'fn main() {\n    println!("The heron waits.");\n}\n'
MARK = "The heron waits."
# The model reads some hundred tokens a second on one core, and a request has a few thousand.
PATIENCE = 400
# After so many requests the turn is cancelled: the model may go on calling tools for as long as it likes.
ENOUGH_REQUESTS = 4
AGENT = {
    "protocolVersion": 1,
    "clientCapabilities": {},
    "methods": ["session/new", "session/prompt", "session/cancel", "session/update", "session/request_permission"],
    "trustedSettings": False,
}


class Server:
    """The server on stdio, spoken to as an editor speaks: whole messages, requests answered in time."""

    def __init__(self, home: Path, project: Path, log: Path):
        environment = {**os.environ, "UNDINE_CONFIG_DIR": str(home / "config"), "UNDINE_DATA_DIR": str(home / "data"), "UNDINE_NO_KEYRING": "1"}
        self._log = open(log, "wb")
        self._process = subprocess.Popen(
            [os.environ["UNDINE_BIN"], "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, env=environment, cwd=project
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


class Failed(Exception):
    """The test has failed; the message says how."""


def fail(message: str) -> None:
    raise Failed(message)


def start_model(weights: str) -> tuple[subprocess.Popen, str]:
    serve = Path(__file__).with_name("serve.py")
    process = subprocess.Popen([sys.executable, str(serve), weights], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    line = process.stdout.readline()
    if not line:
        fail(f"{serve.name} ended with {process.wait()} before it served the model")
    return process, json.loads(line)["url"]


def configure(home: Path, url: str) -> None:
    (home / "config").mkdir()
    (home / "data").mkdir()
    (home / "config" / "config.toml").write_text(
        # Temperature 0: the same answer each time. Few tokens: what the model says after the file is of no use.
        '[default_model]\nprovider = "small"\nname = "smollm2-135m"\ntemperature = 0.0\nmax_tokens = 64\n\n'
        f'[providers.small]\nkind = "openai-compatible"\nbase_url = "{url}/v1"\ncontext_window = 8192\n'
    )


def take_turn(server: Server, project: Path, relay: Relay) -> tuple[list[dict], dict]:
    """All updates of the turn, and the answer to the prompt."""
    capabilities = {"experimental": {"agent": AGENT}}
    folder = {"uri": project.as_uri(), "name": project.name}
    answer = server.request("initialize", {"processId": os.getpid(), "rootUri": project.as_uri(), "workspaceFolders": [folder], "capabilities": capabilities})
    if "agent" not in answer["capabilities"].get("experimental", {}):
        fail("initialize does not offer capabilities.experimental.agent")
    server.notify("initialized", {})
    session = server.request("session/new", {"cwd": str(project), "mcpServers": []})["sessionId"]
    updates: list[dict] = []
    cancelled = False

    def heard(message: dict) -> None:
        nonlocal cancelled
        if message["method"] == "session/update":
            updates.append(message["params"]["update"])
        if len(relay.requests) >= ENOUGH_REQUESTS and not cancelled:
            cancelled = True
            server.notify("session/cancel", {"sessionId": session})

    prompt = {"sessionId": session, "prompt": [{"type": "text", "text": SENTENCE}]}
    return updates, server.request("session/prompt", prompt, heard)


def check(updates: list[dict], answer: dict, requests: list[dict]) -> str:
    """What happened, in a sentence; fails when it is not what must hold."""
    asked = [it for it in requests if it.get("tools")]
    if not asked:
        fail("the model was never asked with tools")
    names = [it["function"]["name"] for it in asked[0]["tools"]]
    if "read_file" not in names:
        fail(f"the request offers no read_file: {names}")
    if not answer.get("stopReason"):
        fail(f"the turn has no stop reason: {json.dumps(answer)}")
    kinds = [it["sessionUpdate"] for it in updates]
    calls = [it for it in updates if it["sessionUpdate"] in ("tool_call", "tool_call_update")]
    if not calls:
        if "agent_message_chunk" not in kinds:
            fail(f"neither text nor a call arrived, only {kinds}")
        fail(f"the model was to call read_file, but said: {said(updates)!r}; its request began {json.dumps(asked[0]['messages'])[:600]}")
    if not any(FILE in json.dumps(it) for it in calls):
        fail(f"no call names {FILE}: {json.dumps(calls)[:600]}")
    results = [json.dumps(message) for request in asked[1:] for message in request["messages"] if message["role"] == "tool"]
    if not any(MARK in it for it in results):
        fail(f"the file's text did not go back to the model; tool results: {results}")
    return f"{len(asked)} requests with {len(names)} tools, {len(updates)} updates, stopped by {answer['stopReason']}"


def said(updates: list[dict]) -> str:
    return "".join(it["content"].get("text", "") for it in updates if it["sessionUpdate"] == "agent_message_chunk")


def main() -> int:
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="undine-model-") as folder:
        home = Path(folder)
        project = home / "project"
        (project / "src").mkdir(parents=True)
        (project / FILE).write_text(TEXT)
        model = relay = server = None
        try:
            model, url = start_model(sys.argv[1])
            relay = Relay(url)
            configure(home, relay.url)
            server = Server(home, project, home / "stderr.txt")
            updates, answer = take_turn(server, project, relay)
            sentence = check(updates, answer, relay.requests)
            if code := server.exit():
                fail(f"the server ended with {code}")
        except Failed as failure:
            print(f"a turn with a real model: {failure}", file=sys.stderr)
            if server:
                print((home / "stderr.txt").read_text(errors="replace")[-4000:], file=sys.stderr)
            print("0 passed, 1 failed")
            return 1
        finally:
            if server:
                server.stop()
            if relay:
                relay.close()
            if model:
                model.stdin.close()
                model.wait()
    print(f"a turn with a real model: {sentence}, {time.monotonic() - started:.0f} s")
    print("1 passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
