"""What an editor starts in the place of the server: passes standard input and output to the test, which holds the server.

    door.py SOCKET
"""
import os
import socket
import sys
import threading


def copy(source: int, sink: int) -> None:
    try:
        while chunk := os.read(source, 1 << 16):
            while chunk:
                chunk = chunk[os.write(sink, chunk) :]
    except OSError:
        # The other side has gone; so does this one.
        pass


def main() -> None:
    line = socket.socket(socket.AF_UNIX)
    line.connect(sys.argv[1])

    def inward() -> None:
        copy(0, line.fileno())
        try:
            line.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    threading.Thread(target=inward, daemon=True).start()
    copy(line.fileno(), 1)


if __name__ == "__main__":
    main()
    # The thread that reads standard input may wait there for ever.
    os._exit(0)
