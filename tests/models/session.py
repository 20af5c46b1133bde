#!/usr/bin/env python3
"""A session of thirty calls in each wire format, against a server that is not ours.

    session.py AIMOCK_CLI [WIRE…]      UNDINE_BIN names the server

aimock plays the model: its fixtures call every kind of tool, natives where the wire has some. It must find in each request the history it
expects, or the turn ends early. Each request must be of the type that the vendor's own SDK has for it (`sdk.py`).
"""
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import sdk
import wires
from agent import Failed, Server, fail, open_session, prompt, said
from relay import Relay
from wires import Wire

CALLS = 30
END = "All done."
# The smallest picture there is.
PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360f8cfc000000301010018dd8db00000000049454e44ae426082"
)


def calls(wire: Wire) -> list[tuple[str, dict]]:
    """One call of each kind, over and over, with a text that the next edit finds."""
    editor = wire == wires.MESSAGES
    every = []
    for at in range(CALLS):
        old, new = f"line {at // 6}", f"line {at // 6 + 1}"
        match at % 6:
            case 0:
                every.append(("str_replace_based_edit_tool", {"command": "view", "path": "a.txt"}) if editor else ("read_file", {"path": "a.txt"}))
            case 1 if editor:
                every.append(("str_replace_based_edit_tool", {"command": "str_replace", "path": "a.txt", "old_str": old, "new_str": new}))
            case 1:
                every.append(("edit_file", {"path": "a.txt", "target_content": old, "replacement_content": new}))
            case 2:
                every.append(("bash", {"command": "cat a.txt"}) if editor else ("execute_command", {"command": "cat a.txt"}))
            case 3 if editor:
                every.append(("str_replace_based_edit_tool", {"command": "create", "path": f"new{at}.txt", "file_text": "new\n"}))
            case 3:
                every.append(("write_file", {"path": f"new{at}.txt", "content": "new\n"}))
            case 4:
                every.append(("str_replace_based_edit_tool", {"command": "view", "path": "dot.png"}) if editor else ("read_file", {"path": "dot.png"}))
            case _:
                every.append(("no_such_tool", {"why": "ask"}))
    return every


def fixtures(wire: Wire) -> dict:
    turns = []
    # How many turns of the model a request has in aimock's eyes when it asks for the next one.
    turn = 0
    for at, (tool, arguments) in enumerate(calls(wire)):
        answer: dict[str, Any] = {"toolCalls": [{"id": f"call_{at:04}", "name": tool, "arguments": arguments}]}
        if at % 3 == 0:
            answer["content"] = f"Step {at}."
        if at % 4 == 0:
            answer["reasoning"] = f"I think of step {at}."
        turns.append({"match": {"turnIndex": turn}, "response": answer})
        # In Responses a text and a call are two items, and aimock takes each for a turn.
        turn += 2 if wire == wires.RESPONSES and "content" in answer else 1
    turns.append({"match": {"turnIndex": turn}, "response": {"content": END}})
    return {"fixtures": turns}


class Aimock:
    """The model's server. It ends with this object."""

    def __init__(self, cli: str, folder: Path, wire: Wire):
        (folder / "fixtures.json").write_text(json.dumps(fixtures(wire)))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        environment = {**os.environ, "AIMOCK_STRICT_TURN_INDEX": "1"}
        command = ["node", cli, "-p", str(port), "-f", str(folder / "fixtures.json"), "--log-level", "warn"]
        self._process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
        self.url = f"http://127.0.0.1:{port}"
        self._wait()

    def _wait(self) -> None:
        end = time.monotonic() + 30
        while time.monotonic() < end and self._process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.url}/v1/models", timeout=30):
                    return
            except OSError:
                # It tells nobody when it listens.
                time.sleep(0.05)
        fail("aimock did not start")

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def run(cli: str, wire: Wire, home: Path) -> str:
    project = home / "project"
    project.mkdir()
    (project / "a.txt").write_text("line 0\n")
    (project / "dot.png").write_bytes(PICTURE)
    aimock = Aimock(cli, home, wire)
    relay = server = None
    try:
        relay = Relay(aimock.url)
        url = relay.url + ("/v1" if wire in (wires.CHAT, wires.RESPONSES) else "")
        wires.configure(home, wire, url, more='[safety]\nmode = "full_access"\n')
        server = Server(home, project, home / "stderr.txt")
        session = open_session(server, project)
        updates, answer = prompt(server, session, "begin")
        if said(updates)[-len(END) :] != END:
            fail(f"{wire.name}: the session ended early, with {said(updates)[-200:]!r}, {answer}, {failures(updates)[:800]}")
        if code := server.exit():
            fail(f"{wire.name}: the server ended with {code}")
    finally:
        if server:
            server.stop()
        if relay:
            relay.close()
        aimock.close()
    # What a server does not say of its model when it is asked, it would not say before each request either.
    if len(relay.asides) != len(set(relay.asides)):
        fail(f"{wire.name}: asked {len(relay.asides)} times about the model")
    return judged(wire, project, relay.requests)


def failures(updates: list[dict]) -> str:
    return json.dumps([it for it in updates if it.get("status") == "failed"])


def judged(wire: Wire, project: Path, bodies: list[dict]) -> str:
    if len(bodies) != CALLS + 1:
        fail(f"{wire.name}: asked {len(bodies)} times, not {CALLS + 1}")
    if (text := (project / "a.txt").read_text()) != f"line {CALLS // 6}\n":
        fail(f"{wire.name}: a.txt is {text!r}")
    for at, body in enumerate(bodies):
        if found := sdk.faults(wire.name, body):
            fail(f"{wire.name}: request {at} is not of the SDK's type: {'; '.join(found)}")
    return f"{wire.name}: {len(bodies)} requests with {CALLS} calls, the last of {len(json.dumps(bodies[-1])):,} bytes"


def main() -> int:
    cli, names = sys.argv[1], sys.argv[2:]
    passed = failed = 0
    for wire in [it for it in wires.ALL if not names or it.name in names]:
        with tempfile.TemporaryDirectory(prefix="undine-session-") as folder:
            try:
                print(run(cli, wire, Path(folder)))
                passed += 1
            except Failed as failure:
                print(failure, file=sys.stderr)
                failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
