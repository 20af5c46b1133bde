// What is said of a model that is asked again.

import type { Retry } from "./protocol";

/** What stands in the status bar, `left` milliseconds before the model is asked again. */
export function line(retry: Retry, left: number): string {
    if (retry.afterMs === 0) {
        return `$(sync) Undine: ${retry.why}`;
    }
    const seconds = Math.max(0, Math.ceil(left / 1000));
    return `$(watch) Undine: asking again in ${seconds} s (${retry.attempt} of ${retry.of})`;
}
