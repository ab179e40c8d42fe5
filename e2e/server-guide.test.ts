import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { root } from "./cli.ts";

const pages = ["docs/guides/server.md", "packages/server/README.md", "packages/studio/README.md"];
const folder = mkdtempSync(join(root, "e2e", ".server-guide-"));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What the examples leave to the reader. */
const given = `import type { Token } from "@stepfold/server";
import type { NodeDefinitions, SnapshotStore, WorkflowDefinition } from "stepfold";
import type { Runtime } from "stepfold/runtime";
declare global {
  const store: SnapshotStore;
  const workflows: readonly WorkflowDefinition[];
  const nodeDefinitions: NodeDefinitions;
  const runtime: Runtime;
  const accounts: readonly Token[];
  const token: string;
  const input: unknown;
}
`;

it("the examples of the server and its client compile as they are pasted, with strict", () => {
  const examples = pages.flatMap((page) =>
    [...readFileSync(join(root, page), "utf8").matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = ""]) => code),
  );
  expect(examples.length).toBeGreaterThanOrEqual(4);
  writeFileSync(join(folder, "given.d.ts"), given);
  for (const [i, code] of examples.entries()) writeFileSync(join(folder, `example-${i}.ts`), code);
  const compilerOptions = {
    ...{ module: "nodenext", target: "es2023", lib: ["es2023", "dom", "dom.iterable", "esnext.disposable"], types: ["node"] },
    ...{ strict: true, noEmit: true, skipLibCheck: true },
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  expect(compile()).toBe("");
});

/** Returns what the compiler complains about. */
function compile(): string {
  try {
    execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", folder], { encoding: "utf8", stdio: "pipe" });
    return "";
  } catch (error) {
    return (error as { readonly stdout: string }).stdout;
  }
}
