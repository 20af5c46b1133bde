// Starts the server and answers what it asks of this editor.

import * as vscode from "vscode";
import {
    ExecuteCommandRequest,
    LanguageClient,
    State,
    type ClientCapabilities,
    type LanguageClientOptions,
    type ServerOptions,
    type StaticFeature,
} from "vscode-languageclient/node";
import { diagnostics, selection, symbols } from "./context";
import { saveDocument } from "./documents";
import * as protocol from "./protocol";
import { RetryBar } from "./retry";
import { chosen, type Declared, type Found } from "./settings";

/** The methods that this extension answers. The server sends it no others; LSP's own serve instead. */
const methods = [
    protocol.saveDocument.method,
    protocol.selection.method,
    protocol.diagnostics.method,
    protocol.symbols.method,
    protocol.retry.method,
];

/** Starts the server. A server that cannot start is reported by the client itself. */
export async function startClient(context: vscode.ExtensionContext): Promise<LanguageClient> {
    const log = vscode.window.createOutputChannel("Undine", { log: true });
    context.subscriptions.push(log);
    const [command = "undine", ...args] = serverCommand();
    const server: ServerOptions = { command, args };
    const options: LanguageClientOptions = {
        documentSelector: [{ scheme: "file" }],
        outputChannel: log,
        initializationOptions: () => settings(context),
    };
    const client = new LanguageClient("undine", "Undine", server, options);
    client.registerFeature(agentFeature);
    client.onRequest(protocol.saveDocument, (params) => saveDocument(params));
    client.onRequest(protocol.selection, () => selection());
    client.onRequest(protocol.diagnostics, (params) => diagnostics(params));
    client.onRequest(protocol.symbols, (params) => symbols(params));
    const retryBar = new RetryBar();
    context.subscriptions.push(
        retryBar,
        client.onNotification(protocol.retry, (params) => retryBar.receive(params)),
        client.onDidChangeState(({ newState }) => {
            if (newState === State.Stopped) {
                retryBar.clear();
            }
        }),
    );
    context.subscriptions.push(
        vscode.workspace.onDidChangeConfiguration((event) => {
            if (event.affectsConfiguration("undine")) {
                void client
                    .sendNotification("workspace/didChangeConfiguration", { settings: settings(context) })
                    .catch((error: unknown) => log.error("The settings did not reach the server.", error));
            }
        }),
    );
    await client.start();
    return client;
}

/** Cancels the tasks that run, through the server's own command. */
export async function cancelTask(client: LanguageClient): Promise<void> {
    const command = "undine.task.cancel";
    if (!client.initializeResult?.capabilities.executeCommandProvider?.commands.includes(command)) {
        void vscode.window.showWarningMessage("This server cannot cancel by command; use Cancel in its progress message.");
        return;
    }
    await client.sendRequest(ExecuteCommandRequest.type, { command });
}

/** Switches the agent's methods on in `initialize`. */
const agentFeature: StaticFeature = {
    fillClientCapabilities(capabilities: ClientCapabilities): void {
        const agent = { protocolVersion: 1, clientCapabilities: {}, methods, trustedSettings: true };
        capabilities.experimental = { ...(capabilities.experimental as object | undefined), agent };
    },
    initialize(): void {},
    getState: () => ({ kind: "static" }),
    clear(): void {},
};

function serverCommand(): string[] {
    return vscode.workspace.getConfiguration("undine").get<string[]>("server.command", []);
}

/**
 * What the person has set, as the content of `config.toml`. Options that a repository must not set
 * are taken from the user's settings only, which is why `trustedSettings` may be true.
 */
function settings(context: vscode.ExtensionContext): Record<string, unknown> {
    const { properties } = (context.extension.packageJSON as Manifest).contributes.configuration;
    return chosen(properties, (key) => {
        const found = vscode.workspace.getConfiguration().inspect<unknown>(key);
        return { user: found?.globalValue, workspace: found?.workspaceValue } satisfies Found;
    });
}

/** What is read of `package.json`. */
interface Manifest {
    contributes: { configuration: { properties: Record<string, Declared> } };
}
