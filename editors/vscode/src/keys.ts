// What is said of providers' keys. Pure, so that it can be tested without an editor.

import type * as protocol from "./protocol";

/** A provider in a list to choose from. */
export interface Choice {
    label: string;
    description: string;
}

/** A provider and where its key is. */
export function choice(it: protocol.ProviderKey): Choice {
    return { label: it.provider, description: where(it) };
}

function where(it: protocol.ProviderKey): string {
    switch (it.source) {
        case "env":
            return `from ${it.variable ?? "the environment"}`;
        case "keyring":
            return "stored";
        case "none":
            return it.needed ? "missing" : "needs none";
    }
}

/** What is told when a key was stored. */
export function stored(now: protocol.ProviderKey): string {
    const { provider, source, variable } = now;
    return source === "env"
        ? `The key of ${provider} is stored, but ${variable ?? "the environment"} comes first as long as it is set.`
        : `The key of ${provider} is stored and counts for the next request.`;
}

/** The provider whose key the person can enter now to be served, if a request failed for that reason. */
export function missing(error: unknown): string | undefined {
    const data: unknown = isRecord(error) ? error["data"] : undefined;
    if (!isRecord(data) || data["kind"] !== "auth") {
        return undefined;
    }
    const provider = data["provider"];
    return typeof provider === "string" ? provider : undefined;
}

function isRecord(it: unknown): it is Record<string, unknown> {
    return typeof it === "object" && it !== null;
}
