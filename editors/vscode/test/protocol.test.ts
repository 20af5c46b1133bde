// The generated unions are told apart by their tags: this file only has to compile.

import assert from "node:assert/strict";
import test from "node:test";
import type * as protocol from "../src/protocol";
import { prompt } from "../src/protocol";

function words(update: protocol.SessionUpdate): string | undefined {
    switch (update.sessionUpdate) {
        case "agent_message_chunk":
            return update.content.type === "text" ? update.content.text : update.content.type;
        case "tool_call":
            return update.title;
        case "current_mode_update":
            return update.currentModeId;
        default:
            return undefined;
    }
}

function answer(outcome: protocol.RequestPermissionOutcome): string {
    return outcome.outcome === "selected" ? outcome.optionId : "none";
}

function asked(request: protocol.CreateElicitationRequest): string[] {
    return request.mode === "form" ? Object.keys(request.requestedSchema.properties ?? {}) : [request.url];
}

test("a tag tells which fields there are", () => {
    assert.equal(words({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: "hello" } }), "hello");
    assert.equal(answer({ outcome: "selected", optionId: "once" }), "once");
    assert.deepEqual(asked({ mode: "url", message: "", sessionId: "s", elicitationId: "e", url: "u" }), ["u"]);
});

test("a method's constant has its name", () => {
    assert.equal(prompt.method, "session/prompt");
});
