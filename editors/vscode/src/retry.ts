// A model that failed is asked again: why and when stands in the status bar and counts down.

import * as vscode from "vscode";
import { line } from "./countdown";
import type { Retry, RetryParams } from "./protocol";

/** Shows the newest wait of each session, one at a time. */
export class RetryBar implements vscode.Disposable {
    private readonly item = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left);
    private readonly waits = new Map<string, { retry: Retry; at: number }>();
    private ticking: NodeJS.Timeout | undefined;

    receive({ sessionId, retry }: RetryParams): void {
        this.waits.delete(sessionId);
        if (retry) {
            this.waits.set(sessionId, { retry, at: Date.now() + retry.afterMs });
        }
        this.draw();
    }

    /** The server has ended, and with it what it waited for. */
    clear(): void {
        this.waits.clear();
        this.draw();
    }

    dispose(): void {
        clearInterval(this.ticking);
        this.item.dispose();
    }

    private draw(): void {
        const newest = [...this.waits.values()].at(-1);
        if (!newest) {
            clearInterval(this.ticking);
            this.ticking = undefined;
            this.item.hide();
            return;
        }
        this.item.text = line(newest.retry, newest.at - Date.now());
        this.item.tooltip = newest.retry.why;
        this.item.show();
        this.ticking ??= setInterval(() => this.draw(), 1000);
    }
}
