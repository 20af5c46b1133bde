// Enters and removes providers' keys. The server keeps them in the system's keyring; nothing here does.

import * as vscode from "vscode";
import { Trace, type LanguageClient } from "vscode-languageclient/node";
import * as keys from "./keys";
import * as protocol from "./protocol";

/** Has the person enter a provider's key, and choose the provider if none is named. */
export async function login(client: LanguageClient, provider?: string): Promise<void> {
    const chosen = provider ?? (await choose(client, "Store the key of which provider?", (it) => it.storable));
    if (chosen === undefined) {
        return;
    }
    const apiKey = await vscode.window.showInputBox({
        title: `Key of ${chosen}`,
        prompt: "It is kept in the system's keyring.",
        password: true,
        ignoreFocusOut: true,
    });
    if (apiKey === undefined || apiKey.trim() === "") {
        return;
    }
    const now = await told(client, unlogged(client, () => client.sendRequest(protocol.setKey, { provider: chosen, apiKey })));
    if (now !== undefined) {
        void vscode.window.showInformationMessage(keys.stored(now));
    }
}

/** Removes a provider's key, and has the person choose the provider if none is named. */
export async function logout(client: LanguageClient, provider?: string): Promise<void> {
    const isStored = (it: protocol.ProviderKey): boolean => it.source === "keyring";
    const chosen = provider ?? (await choose(client, "Forget the key of which provider?", isStored));
    if (chosen === undefined) {
        return;
    }
    const result = await told(client, client.sendRequest(protocol.clearKey, { provider: chosen }));
    if (result !== undefined) {
        const text = result.removed ? `The key of ${chosen} is no longer stored.` : `No key of ${chosen} was stored.`;
        void vscode.window.showInformationMessage(text);
    }
}

/** Shows why a request failed; where a key would help, with a button to enter it. */
export async function showFailure(client: LanguageClient, error: Error): Promise<void> {
    const provider = keys.missing(error);
    const enter = "Enter the Key";
    const answer = await vscode.window.showErrorMessage(error.message, ...(provider === undefined ? [] : [enter]));
    if (answer === enter) {
        await login(client, provider);
    }
}

async function choose(
    client: LanguageClient,
    placeHolder: string,
    fits: (it: protocol.ProviderKey) => boolean,
): Promise<string | undefined> {
    const status = await told(client, client.sendRequest(protocol.authStatus, {}));
    if (status === undefined) {
        return undefined;
    }
    const choices = status.providers.filter(fits).map(keys.choice);
    if (choices.length === 0) {
        void vscode.window.showWarningMessage(status.problem ?? "There is no such key.");
        return undefined;
    }
    return (await vscode.window.showQuickPick(choices, { placeHolder }))?.label;
}

/** The result; none where the person was told why there is none. */
async function told<T>(client: LanguageClient, request: Promise<T>): Promise<T | undefined> {
    try {
        return await request;
    } catch (error) {
        void showFailure(client, error instanceof Error ? error : new Error(String(error)));
        return undefined;
    }
}

/** Sends what no trace may hold. The client's own trace comes back as the person has set it. */
async function unlogged<T>(client: LanguageClient, send: () => Promise<T>): Promise<T> {
    await client.setTrace(Trace.Off);
    try {
        return await send();
    } finally {
        await client.setTrace(wantedTrace(client));
    }
}

/** What the client traces by itself: nothing, unless its channel's level is the lowest. */
function wantedTrace(client: LanguageClient): Trace {
    const level = client.outputChannel.logLevel;
    if (level !== vscode.LogLevel.Trace) {
        return Trace.Off;
    }
    const setting = vscode.workspace.getConfiguration("undine").get<unknown>("trace.server");
    const wanted = typeof setting === "string" ? Trace.fromString(setting) : Trace.Messages;
    return wanted === Trace.Off ? Trace.Messages : wanted;
}
