// What is said of providers' keys.

import assert from "node:assert/strict";
import test from "node:test";
import { choice, missing, stored } from "../src/keys";

const groq = { provider: "groq", needed: true, storable: true } as const;

test("a provider is offered with where its key is", () => {
    const said = [
        choice({ ...groq, source: "env", variable: "GROQ_API_KEY" }),
        choice({ ...groq, source: "keyring" }),
        choice({ ...groq, source: "none" }),
        choice({ ...groq, source: "none", needed: false }),
    ];
    assert.deepEqual(
        said.map((it) => it.description),
        ["from GROQ_API_KEY", "stored", "missing", "needs none"],
    );
    assert.equal(said[0]?.label, "groq");
});

test("a stored key that does not count yet is said to be one", () => {
    assert.equal(
        stored({ ...groq, source: "env", variable: "GROQ_API_KEY" }),
        "The key of groq is stored, but GROQ_API_KEY comes first as long as it is set.",
    );
    assert.equal(stored({ ...groq, source: "keyring" }), "The key of groq is stored and counts for the next request.");
});

test("only a failure that a key would help offers to enter one", () => {
    const failure = (data: unknown): Error => Object.assign(new Error("The key of groq is missing."), { data });
    assert.equal(missing(failure({ kind: "auth", provider: "groq" })), "groq");
    for (const data of [{ kind: "auth" }, { kind: "quota", provider: "groq" }, { kind: "auth", provider: 1 }, undefined, "auth"]) {
        assert.equal(missing(failure(data)), undefined);
    }
    assert.equal(missing(undefined), undefined);
});
