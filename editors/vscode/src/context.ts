// Tells the server what the person sees: the selection, the problems, where symbols are.

import * as vscode from "vscode";
import type * as protocol from "./protocol";

/** The most symbols that are told. */
const mostSymbols = 20;

/** What is selected in the editor that was active last. */
export function selection(): protocol.SelectionResult {
    const editor = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0];
    if (editor === undefined || editor.selection.isEmpty) {
        return {};
    }
    const { document, selection: range } = editor;
    const lines: [number, number] = [range.start.line + 1, range.end.line + 1];
    return { selection: { uri: document.uri.toString(), lines, text: document.getText(range) } };
}

/** The problems of all files, or of one; of one version of it, once they are there. */
export async function diagnostics(params: protocol.DiagnosticsParams): Promise<protocol.DiagnosticsResult> {
    if (params.uri === undefined || params.uri === null) {
        const all = vscode.languages.getDiagnostics();
        const files = all.map(([uri, found]) => ({ uri: uri.toString(), problems: problems(found) }));
        return { files: files.filter((it) => it.problems.length > 0) };
    }
    const uri = vscode.Uri.parse(params.uri, true);
    const { version } = params;
    if (typeof version !== "number") {
        return { files: [{ uri: params.uri, problems: problems(vscode.languages.getDiagnostics(uri)) }] };
    }
    const isThere = await changed(uri, params.waitMs ?? 0);
    const document = vscode.workspace.textDocuments.find((it) => it.uri.toString() === uri.toString());
    if (!isThere || document?.version !== version) {
        return { files: [] };
    }
    return { files: [{ uri: params.uri, version, problems: problems(vscode.languages.getDiagnostics(uri)) }] };
}

/** Where the workspace's symbols of a name are. */
export async function symbols(params: protocol.SymbolsParams): Promise<protocol.SymbolsResult> {
    const command = "vscode.executeWorkspaceSymbolProvider";
    const found = await vscode.commands.executeCommand<vscode.SymbolInformation[]>(command, params.query);
    const told = found.slice(0, mostSymbols).map(({ name, location }) => {
        const lines: [number, number] = [location.range.start.line + 1, location.range.end.line + 1];
        return { name, uri: location.uri.toString(), lines };
    });
    return { symbols: told };
}

/** What the server itself shows is no problem of the code. */
function problems(found: readonly vscode.Diagnostic[]): protocol.Problem[] {
    const others = found.filter((it) => it.source !== "undine");
    return others.map((it) => ({
        line: it.range.start.line + 1,
        // LSP counts from 1.
        severity: it.severity + 1,
        message: it.message,
        ...(it.source === undefined ? {} : { source: it.source }),
    }));
}

/** Whether a file's problems change within so many milliseconds. */
function changed(uri: vscode.Uri, waitMs: number): Promise<boolean> {
    return new Promise((resolve) => {
        const end = (isThere: boolean): void => {
            clearTimeout(timer);
            listener.dispose();
            resolve(isThere);
        };
        const timer = setTimeout(() => end(false), waitMs);
        const listener = vscode.languages.onDidChangeDiagnostics(({ uris }) => {
            if (uris.some((it) => it.toString() === uri.toString())) {
                end(true);
            }
        });
    });
}
