import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cli, jsonLines, newFolder } from "./cli.ts";
import { expectRefused, type Refused } from "./expect-refused.ts";

const approved = '{"approved":true}';
const files: Readonly<Record<string, string>> = {
  "one.json": '{"id":"one","nodes":[{"id":"ask","type":"approval"}],"edges":[]}',
  "two.json":
    '{"id":"two","nodes":[{"id":"s","type":"noop"},{"id":"a","type":"approval"},{"id":"b","type":"approval"}],"edges":[{"source":"s","target":"a"},{"source":"s","target":"b"}]}',
  "strict.json": '{"id":"strict","input":{"type":"object","required":["name"]},"nodes":[{"id":"s","type":"noop"}],"edges":[]}',
  "comma.json": '{\n  "id": "x",\n  "nodes": [ 1, ],\n}',
  "quotes.json": "{'id': 1}",
  "comment.json": '{\n  // mine\n  "id": "x"}',
  "short.json": '{"id": "x"',
  "wrong.json":
    '{\n  "id": "wrong",\n  "nodes": [\n    { "id": "a", "type": "htpp" },\n    { "id": "b", "type": "wait", "data": {} }\n  ],\n  "edges": [{ "source": "b", "target": "a" }]\n}',
  "not.db": `this is no database, ${"only a text that is long enough to be one. ".repeat(20)}`,
  "throws.config.ts": 'throw new Error("boom");',
  "empty.config.ts": "export const a = 1;",
  "enum.config.ts": "enum A { B }\nexport default {};",
  "unknown.config.ts": "export default { nodes: {} };",
  "node.config.ts": "export default { nodeDefinitions: { x: {} } };",
  "vault.config.ts": 'export default { globals: () => { throw new TypeError("no vault"); } };',
};

const cases: readonly Refused[] = [
  [["rn", "x"], "USAGE", "unknown command 'rn'", "Did you mean run?"],
  [["run"], "USAGE", "missing required argument 'file'"],
  [["run", "one.json", "--jsn"], "USAGE", "unknown option '--jsn'", "Did you mean --json?"],
  [["run", "nope.json"], "FILE_NOT_FOUND", "There is no file nope.json"],
  [["run", "."], "FILE_UNREADABLE", "is a folder"],
  [["run", "comma.json"], "JSON_INVALID", "comma.json:3:17 is not JSON", "Remove the comma before it"],
  [["run", "quotes.json"], "JSON_INVALID", "quotes.json:1:2", "double quotes, not single ones"],
  [["validate", "comment.json"], "JSON_INVALID", "comment.json:2:3", "JSON has no comments"],
  [["validate", "short.json"], "JSON_INVALID", "short.json:1:11", "ends too early"],
  [
    ["run", "wrong.json"],
    "WORKFLOW_INVALID",
    "wrong.json:4:26  error  NODE_TYPE_UNKNOWN  /nodes/0/type",
    "wrong.json:5:42  error  DATA_INVALID",
  ],
  [["run", "strict.json", "--input", "{}"], "INPUT_INVALID", '"strict"', "name"],
  [["run", "one.json", "--input", "nope"], "FILE_NOT_FOUND", "there is no such file, and it is not JSON", "--input @FILE"],
  [["run", "one.json", "--input", "{a:1}"], "JSON_INVALID", "--input:1:2", "double quotes"],
  [["run", "one.json", "--id", " x"], "OPTION_INVALID", "workflowId"],
  [["run", "one.json", "--id", "paused", "--input", "5"], "START_CONFLICT", "another input", "choose another --id"],
  [["run", "strict.json", "--id", "paused", "--input", '{"name":1}'], "START_CONFLICT", "another workflow"],
  [["run", "one.json", "--store", "missing/a.db"], "DATABASE_UNUSABLE", "missing/a.db does not exist", "mkdir -p missing"],
  [["run", "one.json", "--store", "folder"], "DATABASE_UNUSABLE", "folder is a folder"],
  [["run", "one.json", "--store", "not.db"], "DATABASE_UNUSABLE", "file is not a database"],
  [["run", "one.json", "--config", "nope.ts"], "CONFIG_NOT_FOUND", "nope.ts"],
  [["run", "one.json", "--config", "throws.config.ts"], "CONFIG_FAILED", "throws.config.ts cannot be loaded (line 1): Error: boom"],
  [["run", "one.json", "--config", "empty.config.ts"], "CONFIG_INVALID", "has no default export", "defineConfig"],
  [["run", "one.json", "--config", "enum.config.ts"], "CONFIG_FAILED", "enum is not supported"],
  [["run", "one.json", "--config", "unknown.config.ts"], "CONFIG_INVALID", 'no setting "nodes"'],
  [["run", "one.json", "--config", "node.config.ts"], "CONFIG_INVALID", "nodeDefinitions.x", "no executor"],
  [["run", "one.json", "--config", "vault.config.ts"], "CONFIG_FAILED", "globals", "TypeError: no vault"],
  [["show", "nope"], "WORKFLOW_NOT_FOUND", '"nope"', "stepfold ls"],
  [["show", "nope", "--store", "nope.db"], "DATABASE_NOT_FOUND", "nope.db"],
  [["resume", "nope"], "WORKFLOW_NOT_FOUND", '"nope"'],
  [
    ["resume", "paused", "--payload", '{"approved":"yes"}'],
    "PAYLOAD_INVALID",
    "/approved",
    /resume paused --payload '\{"approved":true\}'/,
  ],
  [["resume", "paused", "--step", "nope"], "NODE_UNKNOWN", '"nope"'],
  [["resume", "paused", "--wait", "0@77"], "WAIT_GONE", "0@77", "ask (0@2)"],
  [["resume", "both", "--payload", approved], "RESUME_AMBIGUOUS", /resume both --step a --payload/, /resume both --step b --payload/],
  [["resume", "ended", "--payload", '{"approved":false}'], "EXECUTION_ENDED", "completed"],
  [["ls", "--status", "done"], "USAGE", '"done"', "active, paused"],
  [["ls", "--limit", "0"], "USAGE", "from 1 to 1000"],
  [["ls", "--cursor", "x"], "OPTION_INVALID", "cursor"],
];

describe("bad input", () => {
  it("gets its code, what to do, and exit code 2; nothing is changed", async () => {
    const cwd = newFolder();
    mkdirSync(join(cwd, "folder"));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
    await cli(["run", "one.json", "--id", "paused"], { cwd });
    await cli(["run", "two.json", "--id", "both"], { cwd });
    await cli(["run", "one.json", "--id", "ended"], { cwd });
    await cli(["resume", "ended", "--payload", approved], { cwd });
    const before = (await cli(["ls", "--json"], { cwd })).stdout;

    await expectRefused(cases, cwd);

    expect((await cli(["ls", "--json"], { cwd })).stdout).toBe(before);
  });

  it("is told on standard output too with --json", async () => {
    const { code, stdout, stderr } = await cli(["show", "x", "--json"], { cwd: newFolder() });
    expect(code).toBe(2);
    expect(jsonLines(stdout)).toMatchObject([{ type: "error", error: { code: "DATABASE_NOT_FOUND", hint: /first stepfold run/ } }]);
    expect(stderr).toMatch(/^error DATABASE_NOT_FOUND: /);
  });

  it("shows its stack only with STEPFOLD_DEBUG", async () => {
    const { stderr } = await cli(["show", "x"], { cwd: newFolder(), env: { STEPFOLD_DEBUG: "1" } });
    expect(stderr).toMatch(/\n +at /);
  });

  it("validate tells every mistake at once, and exits 0 for none", async () => {
    const cwd = newFolder();
    for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
    const wrong = await cli(["validate", "wrong.json"], { cwd });
    expect(wrong.code).toBe(2);
    expect(wrong.stdout).toMatch(
      /wrong\.json:4:26 {2}error {2}NODE_TYPE_UNKNOWN .*\nwrong\.json:5:42 {2}error .*\n✖ wrong\.json cannot run, 2 errors\n$/,
    );
    const [told] = jsonLines((await cli(["validate", "wrong.json", "--json"], { cwd })).stdout);
    expect(told).toMatchObject({ type: "validation", valid: false, issues: [{ code: "NODE_TYPE_UNKNOWN", line: 4, column: 26 }, {}] });
    const right = await cli(["validate", "one.json"], { cwd });
    expect(right).toMatchObject({ code: 0, stdout: "✔ one.json can run: one, 1 node, 0 edges\n" });
  });
});
