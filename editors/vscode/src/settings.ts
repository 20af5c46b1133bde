// Which settings go to the server. Pure, so that it can be tested without an editor.

/** A setting's declaration in `package.json`, as far as it matters here. */
export interface Declared {
    scope?: string;
}

/** What was found for a setting, its default aside. */
export interface Found {
    user: unknown;
    workspace: unknown;
}

/**
 * The settings that a person has set, nested as in `config.toml`. Defaults are left out: sent, they
 * would hide the person's own file. Of a setting with scope `machine` only the user's value counts,
 * whatever the folder says.
 */
export function chosen(
    declared: Record<string, Declared>,
    find: (key: string) => Found,
): Record<string, unknown> {
    const out: Record<string, unknown> = {};
    for (const [key, { scope }] of Object.entries(declared)) {
        if (key.startsWith("undine.server.")) {
            continue;
        }
        const { user, workspace } = find(key);
        const value = scope === "machine" ? user : (workspace ?? user);
        if (value !== undefined) {
            set(out, key.split(".").slice(1), value);
        }
    }
    return out;
}

function set(table: Record<string, unknown>, path: string[], value: unknown): void {
    const [first, ...rest] = path;
    if (first === undefined) {
        return;
    }
    if (rest.length === 0) {
        table[first] = value;
        return;
    }
    const inner: Record<string, unknown> = { ...(table[first] as Record<string, unknown> | undefined) };
    set(inner, rest, value);
    table[first] = inner;
}
