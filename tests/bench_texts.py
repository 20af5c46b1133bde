"""The texts of `tests/bench`: patches and hunks of files of 50,000 lines, beside git on the same files, by turns.

Ours is timed inside the process that does it, git as the process that a person would start; what starting it costs is shown too.
"""
import random
import shutil
import statistics
import subprocess
import time
from pathlib import Path
from typing import Callable

LINES = 50_000
HUNKS = 200
Row = Callable[[str, list[float], str, str], None]


def write(folder: Path) -> None:
    """`a`; `b` with 200 places changed; `c` with one line in twenty changed and a block moved, the worst case of a diff."""
    rng = random.Random(7)
    a = [f"    let value_{it} = compute({rng.randrange(1000)}, \"{rng.randrange(10 ** 6)}\"); // {it}\n" for it in range(LINES)]
    b = list(a)
    every = LINES // HUNKS
    for it in range(HUNKS):
        at = it * every + rng.randrange(every - 50)
        b[at] = f"    let changed_{it} = other({it});\n"
        b[at + 1] = b[at + 1].rstrip() + " // more\n"
    c = [line if rng.random() > 0.05 else f"    rewritten({rng.randrange(10 ** 6)});\n" for line in a]
    c = c[:10_000] + c[13_000:40_000] + c[10_000:13_000] + c[40_000:]
    for name, lines in (("a", a), ("b", b), ("c", c), ("patched", a)):
        (folder / name).write_text("".join(lines))
    diff = subprocess.run(["git", "diff", "--no-index", "a", "b"], cwd=folder, capture_output=True, text=True).stdout
    assert diff.count("\n@@") == HUNKS
    (folder / "patch").write_text(diff.replace("a/a", "a/patched").replace("b/b", "b/patched"))


def timed(folder: Path, *command: str) -> float:
    begun = time.perf_counter()
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


def measure(example: Path, folder: Path, times: int, row: Row) -> None:
    write(folder)

    def ours(*arguments: str) -> float:
        out = subprocess.run([example, *arguments, "1"], cwd=folder, capture_output=True, text=True, check=True).stdout
        return int(out) / 1e6

    def gits_patch() -> float:
        shutil.copyfile(folder / "a", folder / "patched")
        took = timed(folder, "git", "apply", "patch")
        assert (folder / "patched").read_bytes() == (folder / "b").read_bytes(), "git has not applied it"
        shutil.copyfile(folder / "a", folder / "patched")
        return took

    def compare(what: str, mine: Callable[[], float], gits: Callable[[], float], asked: float) -> None:
        pairs = [(mine(), gits()) for _ in range(times + 1)][1:]
        own, other = [it[0] for it in pairs], [it[1] for it in pairs]
        ratio = statistics.median(own) / statistics.median(other)
        row(what, own, "ms", f"{ratio:.2f} of git's; asked <= {asked}")
        row("  git", other, "ms", "")

    compare(f"a patch of {HUNKS} hunks, {LINES:,} lines, written", lambda: ours("patch", "patched", "patch"), gits_patch, 0.3)
    for file, what, asked in (("b", f"{HUNKS} hunks found in {LINES:,} lines", 0.5), ("c", "hunks, 5 % changed and a block moved", 1)):
        compare(what, lambda: ours("hunks", "a", file),
                lambda: timed(folder, "git", "diff", "--no-index", "--histogram", "a", file), asked)
    row("  git --version, for what a process costs", [timed(folder, "git", "--version") for _ in range(times)], "ms", "")
