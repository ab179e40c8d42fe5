import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "./cli.ts";

// What a newcomer does wrong first, with the library as it is published: the message is read at once, not searched for.

const maxMs = 300_000;
/** The most bytes that are printed for an uncaught error. */
const maxBytes = 2_048;

const start = `
import { defineNode, WorkflowEngine } from "stepfold";
import { builtinNodes } from "stepfold/nodes";
import { createRuntime } from "stepfold/runtime";
import { memoryStore } from "stepfold/stores/memory";
import { sqliteStore } from "stepfold/stores/sqlite";
import { postgresStore } from "stepfold/stores/postgres";
const node = (id, type = "noop", data) => ({ id, type, ...(data !== undefined && { data }) });
const flow = (nodes, edges = [], more = {}) => ({ id: "order", nodes, edges, ...more });
const open = (workflow, more = {}) => createRuntime({ store: memoryStore(), nodeDefinitions: builtinNodes, workflows: [workflow], ...more });
`;
const input = { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] };

const mistakes: readonly (readonly [what: string, code: string, message: string])[] = [
  ["an edge to a node that does not exist", 'open(flow([node("a")], [{ source: "a", target: "b" }]));', "/edges/0/target: names no node"],
  ["a node type without code", 'open(flow([node("a", "aproval")]));', 'no node definition is called "aproval"'],
  ["an expression with a typing error", 'open(flow([node("a", "set", "{{ inptu.x }}")]));', "inptu"],
  ["a workflow that was not registered", 'await open(flow([node("a")])).start("oder");', 'No workflow "oder" here. Known: order'],
  [
    "an input that does not fit",
    `await open(flow([node("a")], [], { input: ${JSON.stringify(input)} })).start("order", { input: { amount: "5" } });`,
    "/amount",
  ],
  ["an option that does not exist", 'open(flow([node("a")]), { concurency: 5 });', "concurency"],
  ["no store", "createRuntime({ nodeDefinitions: builtinNodes });", "store"],
  ["a connection string in place of a client", 'postgresStore("postgres://localhost/app");', "client"],
  ["a database in a folder that does not exist", 'await sqliteStore("./no/such/folder/app.db").list();', "no/such/folder"],
  [
    "an answer that does not fit",
    `const run = await open(flow([node("a", "approval")])).start("order");
     await run.waitFor("paused");
     await run.resume({ payload: "yes" });`,
    "payload",
  ],
  [
    "a snapshot of another workflow",
    `await new WorkflowEngine({ workflow: flow([node("a")]), nodeDefinitions: builtinNodes }).execute({ snapshot: {} });`,
    "snapshot",
  ],
  ["a node without an executor", 'open(flow([node("a", "x")]), { nodeDefinitions: { x: defineNode({}) } });', "executor"],
];

describe("the first mistakes with the published library", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "stepfold-mistakes-"));
    const told = execFileSync(
      "npm",
      ["pack", "--json", "--ignore-scripts", "--pack-destination", folder, join(root, "packages/stepfold")],
      {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
      },
    );
    const [{ filename }] = JSON.parse(told) as [{ readonly filename: string }];
    const installed = join(folder, "node_modules/stepfold");
    mkdirSync(installed, { recursive: true });
    execFileSync("tar", ["-xzf", join(folder, filename), "--strip-components=1", "-C", installed]);
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  }, maxMs);
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

  it.each(mistakes)("%s: the message comes first, and is short", { timeout: maxMs }, (_, code, message) => {
    writeFileSync(join(folder, "mistake.js"), start + code);
    const { status, stdout, stderr } = spawnSync(process.execPath, ["mistake.js"], { cwd: folder, encoding: "utf8", timeout: maxMs / 10 });
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr.length, stderr.slice(0, 5_000)).toBeLessThanOrEqual(maxBytes);
    const before = stderr.slice(0, stderr.search(/^\w*Error: /m));
    expect(before.split("\n").length, stderr).toBeLessThanOrEqual(5);
    expect(Math.max(...before.split("\n").map((line) => line.length)), stderr).toBeLessThan(250);
    expect(stderr.slice(before.length, before.length + 500)).toContain(message);
  });
});
