// What the status bar says of a model that is asked again.

import assert from "node:assert/strict";
import test from "node:test";
import { line } from "../src/countdown";

const retry = { why: "the provider is busy", attempt: 2, of: 5, afterMs: 8000 };

test("the seconds that are left count down to none", () => {
    assert.equal(line(retry, 8000), "$(watch) Undine: asking again in 8 s (2 of 5)");
    assert.equal(line(retry, 7001), "$(watch) Undine: asking again in 8 s (2 of 5)");
    assert.equal(line(retry, 1), "$(watch) Undine: asking again in 1 s (2 of 5)");
    assert.equal(line(retry, -300), "$(watch) Undine: asking again in 0 s (2 of 5)");
});

test("what is asked again at once says without what", () => {
    const refused = { why: "m does not take temperature; it is asked again without.", attempt: 1, of: 4, afterMs: 0 };
    assert.equal(line(refused, 0), "$(sync) Undine: m does not take temperature; it is asked again without.");
});
