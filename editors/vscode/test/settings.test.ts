// What of the settings reaches the server.

import assert from "node:assert/strict";
import test from "node:test";
import { chosen, type Declared, type Found } from "../src/settings";

const declared: Record<string, Declared> = {
    "undine.server.command": { scope: "machine" },
    "undine.default_model.name": {},
    "undine.default_model.provider": {},
    "undine.safety.mode": { scope: "machine" },
};

function settings(values: Record<string, Partial<Found>>): Record<string, unknown> {
    return chosen(declared, (key) => ({ user: undefined, workspace: undefined, ...values[key] }));
}

test("only what was set is sent, nested as in config.toml", () => {
    const values = { "undine.default_model.name": { user: "a" }, "undine.default_model.provider": { workspace: "b" } };
    assert.deepEqual(settings(values), { default_model: { name: "a", provider: "b" } });
    assert.deepEqual(settings({}), {});
});

test("a folder's value wins over the user's, except where a repository must not decide", () => {
    const both = { user: "mine", workspace: "theirs" };
    assert.deepEqual(settings({ "undine.default_model.name": both, "undine.safety.mode": both }), {
        default_model: { name: "theirs" },
        safety: { mode: "mine" },
    });
    assert.deepEqual(settings({ "undine.safety.mode": { workspace: "theirs" } }), {});
});

test("the extension's own settings stay here", () => {
    assert.deepEqual(settings({ "undine.server.command": { user: ["x"] } }), {});
});
