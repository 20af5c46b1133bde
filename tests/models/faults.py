#!/usr/bin/env python3
"""What the server makes of a provider's faults, judged by a server that is not ours.

    faults.py LLMOCK [WIRE…]      UNDINE_BIN names the server

llmock plays the provider and breaks on demand: rate limits with hints, overload, streams that are cut, dropped, stalled or malformed, and
refusals that no retry can mend. It sees every attempt with its time, and passes the verdict; here it must have nothing to say, not even a
warning. Each fault is one turn of one session, so a history that a fault has spoilt shows in the next.
"""
import json
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import wires
from agent import Failed, Server, fail, open_session, prompt, said
from wires import Wire

# Seconds without a byte after which our server gives a stream up; less than the stall.
QUIET = 1
LIMITS = f"[limits]\nmodel_quiet_secs = {QUIET}\nmodel_retry_ms = 100\n"
PATHS = {"messages": "/anthropic", "responses": "/v1", "chat": "/v1", "gemini": "/gemini"}

# Name, what llmock does, and whether the turn must end well.
FAULTS: list[tuple[str, list[dict], bool]] = [
    ("no fault", [], True),
    ("429 with a hint", [{"type": "fail", "status": 429, "retry_after": 1, "times": 2}], True),
    ("503 without one", [{"type": "fail", "status": 503, "times": 3}], True),
    ("500", [{"type": "fail", "status": 500}], True),
    ("529", [{"type": "fail", "status": 529}], True),
    ("truncated", [{"type": "stream_fault", "kind": "truncate", "after_chunks": 3}], True),
    ("truncated at once", [{"type": "stream_fault", "kind": "truncate", "after_chunks": 0}], True),
    ("disconnected", [{"type": "stream_fault", "kind": "disconnect", "after_chunks": 2}], True),
    ("malformed at its second event", [{"type": "stream_fault", "kind": "malformed", "after_chunks": 1}], True),
    ("malformed", [{"type": "stream_fault", "kind": "malformed", "after_chunks": 2}], True),
    ("stalled", [{"type": "stream_fault", "kind": "stall", "after_chunks": 2, "stall_seconds": 3 * QUIET}], True),
    ("400", [{"type": "fail", "status": 400}], False),
    ("401", [{"type": "fail", "status": 401}], False),
    ("404", [{"type": "fail", "status": 404}], False),
    ("no fault any more", [], True),
]


class Llmock:
    """The provider. It ends with this object."""

    def __init__(self, program: str):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        command = [program, "serve", "--host", "127.0.0.1", "--port", str(port), "--tool-mode", "off", "--log-level", "error"]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while True:
            try:
                self.reset()
                return
            except OSError:
                if time.monotonic() > end or self._process.poll() is not None:
                    fail("llmock did not start")
                # It tells nobody when it listens.
                time.sleep(0.05)

    def reset(self) -> None:
        self._ask("POST", "/reset")

    def will(self, behaviors: list[dict]) -> None:
        if behaviors:
            self._ask("POST", "/scenario", {"behaviors": behaviors})

    def pending(self) -> list[dict]:
        return self._ask("GET", "/scenario")["pending"]

    def verdict(self) -> dict:
        return self._ask("GET", "/verdict")

    def close(self) -> None:
        self._process.kill()
        self._process.wait()

    def _ask(self, method: str, path: str, body: dict | None = None) -> dict:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/_llmock{path}", data, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)


def judged(program: str, wire: Wire) -> tuple[str, bool]:
    """One wire with a provider of its own, because a fault meets whoever asks next."""
    llmock = None
    with tempfile.TemporaryDirectory(prefix="undine-faults-") as folder:
        try:
            llmock = Llmock(program)
            return run(llmock, wire, Path(folder)), True
        except Failed as failure:
            return str(failure), False
        finally:
            if llmock:
                llmock.close()


def run(llmock: Llmock, wire: Wire, home: Path) -> str:
    project = home / "project"
    project.mkdir()
    wires.configure(home, wire, llmock.url + PATHS[wire.name], more=LIMITS)
    llmock.reset()
    server = Server(home, project, home / "stderr.txt")
    try:
        session = open_session(server, project)
        for name, behaviors, ends_well in FAULTS:
            llmock.will(behaviors)
            try:
                updates, answer = prompt(server, session, f"This is about: {name}.")
                what = "" if said(updates) else f"an empty answer, {answer}"
            except Failed as failure:
                what = str(failure)
            if ends_well == bool(what):
                fail(f"{wire.name}, {name}: {what or 'the turn ended well, and must not'}")
            if left := llmock.pending():
                fail(f"{wire.name}, {name}: the server did not meet {left}")
        if code := server.exit():
            fail(f"{wire.name}: the server ended with {code}")
    finally:
        server.stop()
    verdict = llmock.verdict()
    if verdict["findings"]:
        fail(f"{wire.name}: " + "; ".join(f"{it['severity']} {it['code']}: {it['title']}" for it in verdict["findings"]))
    return f"{wire.name}: {verdict['calls']} calls, {verdict['attempts']} attempts, {verdict['faults_injected']} faults, no finding"


def main() -> int:
    names = sys.argv[2:]
    asked = [it for it in wires.ALL if it.name in PATHS and (not names or it.name in names)]
    # Most of it is waiting, so the wires wait side by side.
    with ThreadPoolExecutor(len(PATHS)) as pool:
        results = list(pool.map(lambda it: judged(sys.argv[1], it), asked))
    for sentence, is_well in results:
        print(sentence, file=sys.stdout if is_well else sys.stderr)
    failed = sum(not is_well for _, is_well in results)
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
