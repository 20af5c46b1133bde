// Table of contents: starts the client and registers what a person can do.

import * as vscode from "vscode";
import { cancelTask, startClient } from "./client";
import { login, logout } from "./login";

export async function activate(context: vscode.ExtensionContext): Promise<void> {
    const client = await startClient(context);
    context.subscriptions.push(
        client,
        vscode.commands.registerCommand("undine.cancel", () => cancelTask(client)),
        vscode.commands.registerCommand("undine.login", (provider?: string) => login(client, provider)),
        vscode.commands.registerCommand("undine.logout", (provider?: string) => logout(client, provider)),
    );
}
