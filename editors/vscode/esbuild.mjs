// Bundles the extension into out/extension.js, and each test into out/test.

import { build } from "esbuild";
import { readdir, rm } from "node:fs/promises";

const common = {
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    sourcemap: true,
    logLevel: "warning",
};

await rm("out", { recursive: true, force: true });
await build({ ...common, entryPoints: ["src/extension.ts"], outdir: "out", external: ["vscode"], minify: true });

const tests = (await readdir("test")).filter((name) => name.endsWith(".test.ts"));
await build({ ...common, entryPoints: tests.map((name) => `test/${name}`), outdir: "out/test" });
