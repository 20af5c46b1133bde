"""Random texts, changed at random; a V4A diff of the change; applied by OpenAI's own code and by ours.

Usage: v4a.py APPLY_DIFF, the program of apply_diff.rs. UNDINE_SOAK multiplies the diffs.

Where both make a text, it must be the same text. Where only one does, it must be for a reason that is listed here
with its justification, and the reason is checked, not believed.
"""

import collections
import importlib.util
import json
import os
import pathlib
import random
import subprocess
import sys
import sysconfig

SEED = 20261130
N_DIFFS = 4000 * int(os.environ.get("UNDINE_SOAK") or 1)

# What only the oracle does.
LOOSER = {
    "several places": "it takes the first place that fits; we refuse when another fits as well, since it is not "
    "sure that the first is meant",
    "no anchor": "it goes on without an anchor that is not in the file; we name the anchor and refuse",
    "not at end": "it takes a chunk for the end of the file anywhere; we hold it to the end",
    "already there": "it adds lines a second time where they stand already",
    "no change": "it gives back the same text; we say that nothing would change",
    "indentation": "it adds lines with the indentation of the diff even where the file has another; we refuse if we cannot tell",
}
# What both do, each in its way.
DIFFERENT = {
    "insertion without context": "it puts lines without context and anchor where it is, so before the first chunk at the top; "
    "we put them at the end of the file (spec 2.2)",
    "insertion below an anchor": "when the anchor stands before the chunk before, it puts the lines behind that chunk; we put "
    "them right below the anchor (spec 2.2a)",
    "astray": "it took the first place that fits, which is not the one that was meant",
    "indentation": "where the diff has another indentation than the file it writes new lines as they are; we indent them as the "
    "file is",
}
# What only we do, by the first word of its refusal.
STRICTER = {
    "Anchor": "it looks for stacked anchors from the chunk before; we look above a place, wherever the chunk before is",
    "Context": "it wants chunks in the order of the file, and none that share context; we take a chunk anywhere when it fits in one "
    "place only",
    "EOF": "the same for a chunk at the end of the file",
    "Line:": "a chunk of anchors that ends with a blank line",
}


def load_oracle():
    """The one module, without its package, which would import a hundred others."""
    path = pathlib.Path(sysconfig.get_path("purelib")) / "agents" / "apply_diff.py"
    spec = importlib.util.spec_from_file_location("apply_diff", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["apply_diff"] = module
    spec.loader.exec_module(module)
    return module.apply_diff


COMMON = ["", "", "}", "    }", "    return x", "\treturn y", "x = 1", "é — “q”", "    pass"]


def random_text(rng):
    lines = []
    for _ in range(rng.randrange(1, 5)):
        lines.append(f"class C{rng.randrange(5)}:")
        for _ in range(rng.randrange(1, 4)):
            lines.append(f"    def f{rng.randrange(8)}(self):")
            for _ in range(rng.randrange(1, 6)):
                line = rng.choice(COMMON) if rng.random() < 0.4 else f"value_{rng.randrange(60)} = {rng.randrange(9)}"
                lines.append("        " + line if line else "")
    # What comes after the last newline is no line, though the oracle takes it for an empty one.
    return lines + ["end = True"]


def random_change(rng, lines):
    """A list of (start, n_removed, added), in order and apart."""
    edits, at = [], 0
    for _ in range(rng.randrange(1, 5)):
        if at >= len(lines):
            break
        start = rng.randrange(at, len(lines))
        n = min(rng.choice([0, 0, 1, 1, 2, 3]), len(lines) - start)
        added = [f"        new_{rng.randrange(99)} = {rng.randrange(9)}" for _ in range(rng.randrange(0 if n else 1, 4))]
        edits.append((start, n, added))
        at = start + n + 1 + rng.randrange(6)
    return edits


def applied(lines, edits):
    out, at = [], 0
    for start, n, added in edits:
        out += lines[at:start] + added
        at = start + n
    return out + lines[at:]


def v4a(rng, lines, edits):
    """A diff in the format, as a model may write it: with more or less context, with anchors or without."""
    n_context = rng.choice([0, 1, 2, 3, 3, 3, 6])
    out, at = [], 0
    for index, (start, n, added) in enumerate(edits):
        first = max(at, start - n_context)
        next_start = edits[index + 1][0] if index + 1 < len(edits) else len(lines)
        last = min(next_start, start + n + n_context)
        scopes = [it for it in lines[:first] if it.lstrip().startswith(("class", "def"))]
        if scopes and rng.random() < 0.5:
            if rng.random() < 0.3:
                outer = [it for it in lines[:first] if it.startswith("class")]
                inner = scopes[-1]
                out += [f"@@ {outer[-1]}", f"@@ {inner}"] if outer and inner != outer[-1] else [f"@@ {inner}"]
            else:
                out.append(f"@@ {scopes[-1].strip() if rng.random() < 0.2 else scopes[-1]}")
        elif index or rng.random() < 0.7:
            out.append("@@")
        out += [" " + it if it or rng.random() < 0.7 else "" for it in lines[first:start]]
        out += ["-" + it for it in lines[start : start + n]]
        out += ["+" + it for it in added]
        out += [" " + it if it or rng.random() < 0.7 else "" for it in lines[start + n : last]]
        if last == len(lines) and rng.random() < 0.3:
            out.append("*** End of File")
        at = last
    return out


def damaged(rng, lines, diff):
    """Sometimes the file is not quite what the diff was made for, or the diff not quite what was meant."""
    kind = rng.choice(["", "", "", "", "", "trailing", "indent", "indent", "drift", "anchor", "swap"])
    lines = list(lines)
    if kind == "trailing":
        lines = [it + rng.choice(["", "", "  "]) for it in lines]
    elif kind == "indent":
        # Steps of half the width, or all of it further to the left.
        def blanks(it):
            return len(it) - 1 - len(it[1:].lstrip(" "))

        body = [it for it in diff if it and it[0] in "+- " and it[1:].strip()]
        least = min(map(blanks, body), default=0)
        diff = [it if it not in body else it[0] + it[1 + (least or blanks(it) // 2) :] for it in diff]
    elif kind == "drift":
        at = rng.randrange(len(lines) + 1)
        lines.insert(at, "drifted = True")
    elif kind == "anchor":
        diff = [it + "?" if it.startswith("@@ ") else it for it in diff]
    elif kind == "swap":
        starts = [at for at, it in enumerate(diff) if it.startswith("@@")]
        if len(starts) > 1:
            diff = diff[starts[-1] :] + diff[: starts[-1]]
    return kind, lines, diff


def cases(rng):
    for at in range(N_DIFFS):
        if at % 20 == 0:
            lines = random_text(rng)
            eol = rng.choice(["\n", "\n", "\r\n"])
            yield {"mode": "create", "text": "", "diff": eol.join("+" + it for it in lines) + eol, "truth": eol.join(lines) + eol, "kind": "create"}
            continue
        lines = random_text(rng)
        edits = random_change(rng, lines)
        diff = v4a(rng, lines, edits)
        kind, now, diff = damaged(rng, lines, diff)
        eol = rng.choice(["\n", "\n", "\n", "\r\n"])
        end = eol if rng.random() < 0.8 else ""
        if kind == "drift":
            at = now.index("drifted = True")
            edits = [it if it[0] + it[1] < at else (it[0] + 1, *it[1:]) if it[0] > at else None for it in edits]
        truth = None if kind == "anchor" or None in edits else eol.join(applied(now, edits)) + end
        yield {"mode": "default", "text": eol.join(now) + end, "diff": "\n".join(diff) + "\n", "truth": truth, "kind": kind}


def n_places(lines, old):
    """In how many places the lines stand, with blanks at both ends left aside."""
    plain = [it.strip() for it in lines]
    old = [it.strip() for it in old]
    return sum(plain[at : at + len(old)] == old for at in range(len(plain) - len(old) + 1))


def chunks(diff):
    """The old lines of each chunk."""
    out, current = [], None
    for line in diff.split("\n")[:-1]:
        if line.startswith("@@") or line.startswith("***"):
            current = None
            continue
        if current is None:
            current = []
            out.append(current)
        if not line.startswith("+"):
            current.append(line[1:])
    return out


def insertions(diff):
    """Of each chunk of new lines alone: whether it has an anchor."""
    blocks = [[[], False]]
    for line in diff.split("\n")[:-1]:
        if line.startswith("@@"):
            if blocks[-1][0]:
                blocks.append([[], False])
            blocks[-1][1] |= line != "@@"
        elif not line.startswith("***"):
            blocks[-1][0].append(line)
    return [anchored for lines, anchored in blocks if lines and all(it.startswith("+") or not it.strip() for it in lines)]


def why_different(case, theirs, mine, without_context):
    if False in without_context:
        return "insertion without context"
    if without_context:
        return "insertion below an anchor"
    if mine != case["truth"]:
        # An anchor was damaged: what was meant cannot be known.
        return "astray" if case["kind"] == "anchor" else None
    is_indentation = [it.strip() for it in mine.split("\n")] == [it.strip() for it in theirs.split("\n")]
    return "indentation" if is_indentation else "astray"


def why_looser(case, error):
    """Why only the oracle has a text; None if there is no good reason."""
    kind = error.split(":")[0]
    lines = case["text"].split("\n")
    if kind in ("Ambiguous", "Overlap", "NotFound"):
        # A blank line at the end of a chunk is as likely none of it.
        olds = chunks(case["diff"])
        olds += [it[:-1] for it in olds if it and not it[-1].strip()]
        return "several places" if any(n_places(lines, it) > 1 for it in olds) else None
    return {
        "AnchorNotFound": "no anchor",
        "NotBelowAnchor": "no anchor",
        "NotAtEnd": "not at end",
        "AlreadyApplied": "already there",
        "Unchanged": "no change",
        "Indentation": "indentation",
    }.get(kind)


def main():
    apply_diff = load_oracle()
    rng = random.Random(SEED)
    all_cases = list(cases(rng))
    requests = "".join(json.dumps({key: it[key] for key in ("mode", "text", "diff")}) + "\n" for it in all_cases)
    answers = subprocess.run([sys.argv[1]], input=requests, stdout=subprocess.PIPE, text=True, check=True, encoding="utf-8")
    answers = [json.loads(it) for it in answers.stdout.splitlines()]
    assert len(answers) == len(all_cases)

    tally, bad = collections.Counter(), []
    for case, ours in zip(all_cases, answers):
        try:
            theirs = apply_diff(case["text"], case["diff"], case["mode"])
        except ValueError as error:
            theirs, refusal = None, str(error)
        mine = ours.get("text")
        without_context = insertions(case["diff"]) if case["mode"] == "default" else []
        if without_context:
            # Such a diff does not say which place was meant.
            case["truth"] = None
        if case["truth"] is not None and mine is not None and mine != case["truth"]:
            tally["ours is not what was meant"] += 1
            # A diff with other indentation whose every old line has none cannot be understood; then both agree.
            if mine != theirs:
                bad.append((case, theirs, ours))
        if case["truth"] is not None and theirs is not None and theirs != case["truth"]:
            tally["theirs is not what was meant"] += 1
        if theirs is None and mine is None:
            tally["both refuse"] += 1
        elif theirs is None:
            why = refusal.split()[1]
            tally[f"only ours: {why}"] += 1
            if why not in STRICTER:
                bad.append((case, theirs, ours))
        elif mine is None:
            why = why_looser(case, ours["error"])
            tally[f"only theirs: {why}"] += 1
            if why not in LOOSER:
                bad.append((case, theirs, ours))
        elif same(case, theirs, mine):
            tally["same"] += 1
        else:
            why = why_different(case, theirs, mine, without_context)
            tally[f"different: {why}"] += 1
            if why not in DIFFERENT:
                bad.append((case, theirs, ours))
    for name, n in sorted(tally.items()):
        print(f"{n:6}  {name}")
    for case, theirs, ours in bad[:5]:
        print("\n--- text", case["kind"], "\n" + case["text"], "--- diff\n" + case["diff"], "--- theirs\n", theirs, "\n--- ours\n", ours.get("text") or ours["error"], sep="")
    sys.exit(1 if bad else 0)


def same(case, theirs, mine):
    if case["mode"] == "create":
        # A new file ends with a newline; the oracle leaves it out.
        eol = "\r\n" if "\r\n" in case["diff"] else "\n"
        return theirs + eol == mine
    return theirs == mine


main()
