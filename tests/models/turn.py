#!/usr/bin/env python3
"""One turn with a real model in each wire format that its server speaks: the agent is asked to read a file, and the model must ask for it.

    turn.py MODEL.gguf [WIRE…]        UNDINE_BIN names the server

Serves the model on loopback, starts the server as an editor with the agent methods does, and asks it to read src/main.rs.
What holds is checked, not how clever the answer is: the model is asked with the tools, text streams or a call of `read_file`
with that path arrives, its result goes back to the model, and the turn ends with a reason. The model is very small;
`template.jinja` and the sentence below are what it can do.
"""
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Iterator

import wires
from agent import Failed, Server, fail, open_session, prompt, said
from relay import Relay
from wires import Wire

SENTENCE = "Read the file src/main.rs"
FILE = "src/main.rs"
TEXT = 'fn main() {\n    println!("The heron waits.");\n}\n'
MARK = "The heron waits."
# After so many requests the turn is cancelled: the model may go on calling tools for as long as it likes.
ENOUGH_REQUESTS = 4
# The wire formats of llama.cpp's server. It accepts the vendors' own tools and does nothing with them, so none are offered.
SPOKEN = [Wire("chat", "openai-compatible"), Wire("responses", "openai"), Wire("messages", "anthropic")]
# Temperature 0: the same answer each time. Few tokens: what the model says after the file is of no use.
SETTINGS = "[limits]\nmodel_retries = 0\n"


def start_model(weights: str) -> tuple[subprocess.Popen, str]:
    serve = Path(__file__).with_name("serve.py")
    process = subprocess.Popen([sys.executable, str(serve), weights], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    line = process.stdout.readline()
    if not line:
        fail(f"{serve.name} ended with {process.wait()} before it served the model")
    return process, json.loads(line)["url"]


def take_turn(server: Server, project: Path, relay: Relay) -> tuple[list[dict], dict]:
    """All updates of the turn, and the answer to the prompt."""
    session = open_session(server, project)
    cancelled = False

    def count() -> None:
        nonlocal cancelled
        if len(relay.requests) >= ENOUGH_REQUESTS and not cancelled:
            cancelled = True
            server.notify("session/cancel", {"sessionId": session})

    return prompt(server, session, SENTENCE, count)


def tool_names(request: dict) -> list[str]:
    return [it.get("function", it).get("name", "") for it in request["tools"]]


def results(wire: Wire, request: dict) -> Iterator[str]:
    """The results of calls in a request, as JSON."""
    if wire.name == "responses":
        found: list[Any] = [it for it in request["input"] if it.get("type") == "function_call_output"]
    elif wire.name == "messages":
        parts = [part for it in request["messages"] if isinstance(it["content"], list) for part in it["content"]]
        found = [it for it in parts if it["type"] == "tool_result"]
    else:
        found = [it for it in request["messages"] if it["role"] == "tool"]
    return map(json.dumps, found)


def check(wire: Wire, updates: list[dict], answer: dict, requests: list[dict]) -> str:
    """What happened, in a sentence; fails when it is not what must hold."""
    asked = [it for it in requests if it.get("tools")]
    if not asked:
        fail("the model was never asked with tools")
    names = tool_names(asked[0])
    if "read_file" not in names:
        fail(f"the request offers no read_file: {names}")
    if not answer.get("stopReason"):
        fail(f"the turn has no stop reason: {json.dumps(answer)}")
    kinds = [it["sessionUpdate"] for it in updates]
    calls = [it for it in updates if it["sessionUpdate"] in ("tool_call", "tool_call_update")]
    if not calls:
        if "agent_message_chunk" not in kinds:
            fail(f"neither text nor a call arrived, only {kinds}")
        fail(f"the model was to call read_file, but said: {said(updates)!r}; its request began {json.dumps(asked[0])[:600]}")
    if not any(FILE in json.dumps(it) for it in calls):
        fail(f"no call names {FILE}: {json.dumps(calls)[:600]}")
    given = [it for request in asked[1:] for it in results(wire, request)]
    if not any(MARK in it for it in given):
        fail(f"the file's text did not go back to the model; tool results: {given}")
    return f"{len(asked)} requests with {len(names)} tools, {len(updates)} updates, stopped by {answer['stopReason']}"


def run(wire: Wire, model: str) -> str:
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="undine-model-") as folder:
        home = Path(folder)
        project = home / "project"
        (project / "src").mkdir(parents=True)
        (project / FILE).write_text(TEXT)
        relay, server = Relay(model), None
        try:
            base = "" if wire.name == "messages" else "/v1"
            wires.configure(home, wire, relay.url + base, "smollm2-135m", SETTINGS)
            flags = ["-c", "default_model.temperature=0.0", "-c", "default_model.max_tokens=64"]
            server = Server(home, project, home / "stderr.txt", flags)
            updates, answer = take_turn(server, project, relay)
            sentence = check(wire, updates, answer, relay.requests)
            if code := server.exit():
                fail(f"the server ended with {code}")
        except Failed:
            print((home / "stderr.txt").read_text(errors="replace")[-4000:], file=sys.stderr)
            raise
        finally:
            if server:
                server.stop()
            relay.close()
    return f"{sentence}, {time.monotonic() - started:.0f} s"


def main() -> int:
    names = sys.argv[2:]
    passed = failed = 0
    model, url = start_model(sys.argv[1])
    try:
        for wire in [it for it in SPOKEN if not names or it.name in names]:
            try:
                print(f"a turn with a real model in {wire.name}: {run(wire, url)}")
                passed += 1
            except Failed as failure:
                print(f"a turn with a real model in {wire.name}: {failure}", file=sys.stderr)
                failed += 1
    finally:
        model.stdin.close()
        model.wait()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
