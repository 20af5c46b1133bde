#!/usr/bin/env python3
"""Stands between a client and a server on stdio and writes down what they say.

    tee.py LOG.jsonl COMMAND [ARGUMENT...]

Bytes go through unchanged and at once, in both directions. Each whole message becomes a line {"dir": "c->s" | "s->c", "m": MESSAGE}
of the log; bytes that are no message become {"dir", "raw": TEXT}. A message is in the log before its last byte is passed on, so a
reply never stands before its request. Ends with the server, with its exit code.
"""
import json
import os
import re
import signal
import subprocess
import sys
import threading
from typing import Iterator

LENGTH = re.compile(rb"^content-length: *(\d+)\s*$", re.IGNORECASE | re.MULTILINE)


class Framer:
    """Takes bytes as they come and gives log entries for whole messages."""

    def __init__(self, direction: str):
        self.direction = direction
        self._bytes = b""

    def feed(self, chunk: bytes) -> Iterator[dict]:
        self._bytes += chunk
        while True:
            end = self._bytes.find(b"\r\n\r\n")
            if end < 0:
                return
            head = self._bytes[:end]
            length = LENGTH.search(head)
            if not length or not head.lower().startswith((b"content-length", b"content-type")):
                # Something was printed between frames. The next frame, if there is one, is read again from its start.
                start = head.lower().rfind(b"content-length")
                junk, self._bytes = (head + b"\r\n\r\n", self._bytes[end + 4 :]) if start <= 0 else (head[:start], self._bytes[start:])
                yield self._raw(junk)
                continue
            stop = end + 4 + int(length.group(1))
            if len(self._bytes) < stop:
                return
            body, self._bytes = self._bytes[end + 4 : stop], self._bytes[stop:]
            try:
                yield {"dir": self.direction, "m": json.loads(body)}
            except ValueError:
                yield self._raw(body)

    def rest(self) -> Iterator[dict]:
        """What came after the last whole message."""
        if self._bytes:
            yield self._raw(self._bytes)

    def _raw(self, text: bytes) -> dict:
        return {"dir": self.direction, "raw": text.decode("utf-8", "backslashreplace")}


class Log:
    """Two threads write whole lines here; the lock keeps each line in one piece."""

    def __init__(self, path: str):
        self._file = open(path, "w", encoding="utf-8")
        self._lock = threading.Lock()

    def write(self, entries: Iterator[dict]) -> None:
        with self._lock:
            for entry in entries:
                self._file.write(json.dumps(entry) + "\n")
            self._file.flush()


def pump(source: int, sink: int, framer: Framer, log: Log) -> None:
    while chunk := os.read(source, 1 << 16):
        log.write(framer.feed(chunk))
        while chunk:
            try:
                chunk = chunk[os.write(sink, chunk) :]
            except BrokenPipeError:
                return
    log.write(framer.rest())
    os.close(sink)


def main() -> int:
    log = Log(sys.argv[1])
    server = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: server.send_signal(number))
    # The ends are used as bare file descriptors, so they must not be closed by a collected object.
    stdin, stdout = os.dup(server.stdin.fileno()), os.dup(server.stdout.fileno())
    server.stdin.close()
    server.stdout.close()
    threading.Thread(target=pump, args=(0, stdin, Framer("c->s"), log), daemon=True).start()
    back = threading.Thread(target=pump, args=(stdout, 1, Framer("s->c"), log))
    back.start()
    code = server.wait()
    back.join()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    # The thread that reads standard input may still be waiting there; leaving must not wait for it.
    code = main()
    sys.stdout.flush()
    os._exit(code)
