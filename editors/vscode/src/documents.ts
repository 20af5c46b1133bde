// Saves documents when the server asks.

import * as vscode from "vscode";
import type * as protocol from "./protocol";

/** Saves one open document. Saved means that the disk holds its text now. */
export async function saveDocument(params: protocol.SaveDocumentParams): Promise<protocol.SaveDocumentResult> {
    const wanted = vscode.Uri.parse(params.uri, true).toString();
    const document = vscode.workspace.textDocuments.find((it) => it.uri.toString() === wanted);
    return { saved: document !== undefined && (await document.save()) };
}
