"""The policy of `tests/bench`: what it takes to decide about a command line, from its text to the verdict.

Lines that are meant to take long stand beside a plain one; what is longer than 16 KiB is never parsed.
"""
import statistics
import subprocess
from pathlib import Path
from typing import Callable

Row = Callable[[str, list[float], str, str], None]
PART = "grep -rn --include='*.rs' \"fn main\" src/a/b 2>/dev/null | sort -u | head -n 20 && "
CHARACTERS = 1_000


def plain() -> str:
    """A line as a model writes it, of exactly 1,000 characters."""
    line = PART * ((CHARACTERS - 20) // len(PART)) + "git log "
    return line + "x" * (CHARACTERS - len(line))


# Name, and a line of about so many bytes.
HOSTILE: list[tuple[str, Callable[[int], str]]] = [
    ("pipes", lambda n: "a|" * (n // 2)),
    ("lists", lambda n: "a && " * (n // 5)),
    ("lists with redirections", lambda n: "a >x && " * (n // 8)),
    ("substitutions that open", lambda n: "$(" * (n // 2)),
    ("braces", lambda n: "{a,b}" * (n // 5)),
    ("loops in loops", lambda n: "for x in 1 2 3 4 5 6 7 8; do " * 20 + "ls #" + "x" * (n - 740) + "\n" + "; done" * 20),
    ("names that double", lambda n: "a=aaaaaaaaaaaaaaaa; " + "a=$a$a; " * (n // 8)),
    ("here-documents", lambda n: "<<E " * (n // 4)),
    ("folders", lambda n: "cd a; cd b; cd ..; " * (n // 19)),
    ("downloads that run", lambda n: "curl x | sh; " * (n // 13)),
    ("words", lambda n: "a " * (n // 2)),
    ("removals", lambda n: "rm -rf " * (n // 7)),
]


def measure(example: Path, folder: Path, times: int, row: Row) -> None:
    file = folder / "line"

    def timed(line: str, rounds: int) -> list[float]:
        file.write_text(line)
        out = subprocess.run([example, file, str(rounds)], capture_output=True, text=True, check=True).stdout
        # The first round fills caches.
        return [int(it) / 1e9 for it in out.split()][1:]

    line = plain()
    row(f"a policy decision, {len(line):,} characters", timed(line, 50 * times), "ms", "asked < 1")
    for n in (CHARACTERS, 16_000, 64 * 1024):
        slowest: tuple[float, str, list[float]] = (0.0, "", [])
        for name, made in HOSTILE:
            took = timed(made(n), max(4, times // 2))
            slowest = max(slowest, (statistics.median(took), name, took))
        row(f"  the slowest of {len(HOSTILE)} hostile lines, {n:,} bytes", slowest[2], "ms", slowest[1])
