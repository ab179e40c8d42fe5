import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const readme = readFileSync(join(root, "README.md"), "utf8");
const folder = mkdtempSync(join(root, "e2e", ".readme-"));
const guides = ["testing", "changing", "migrating", "deploying", "node-types"].map((page) =>
  readFileSync(join(root, `docs/guides/${page}.md`), "utf8"),
);
const running = ["process", "cron", "runners"].map((page) => readFileSync(join(root, `docs/run/${page}.md`), "utf8")).join("\n");
const flows = [...[readme, ...guides, running].join("\n").matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = ""]) => code);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the output that the comments after `console.log` promise, one line per comment. */
function promised(code: string): string {
  return [...code.matchAll(/console\.log\(.*\); \/\/ (.*)/g)].map(([, output = ""]) => `${output}\n`).join("");
}

describe("the README, guides, and the pages on where it runs", () => {
  it("show a whole flow by line 15", () => {
    expect(readme.split("\n").slice(0, 15).join("\n")).toContain(flows[0]);
  });

  it.each(flows.map((code, i) => [i + 1, code] as const))("have a flow no. %i that runs as pasted and prints what it says", (i, code) => {
    const file = join(folder, `flow-${i}.ts`);
    writeFileSync(file, code);
    expect(execFileSync(process.execPath, [file], { encoding: "utf8" })).toBe(promised(code));
  });
});
