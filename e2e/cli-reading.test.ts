import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { builtinNodes } from "stepfold/nodes";
import { createRuntime } from "stepfold/runtime";
import { sqliteStore } from "stepfold/stores/sqlite";
import { expect, it } from "vitest";
import { cli, jsonLines, newFolder } from "./cli.ts";

it("ls lists the executions of one tenant", async () => {
  const cwd = newFolder();
  const store = sqliteStore(join(cwd, "app.db"));
  const workflow = { id: "one", nodes: [{ id: "ask", type: "approval" }], edges: [] };
  const runtime = createRuntime({ store, workflows: [workflow], nodeDefinitions: builtinNodes, drive: false });
  for (const [workflowId, tenant] of [
    ["a", "acme"],
    ["b", "globex"],
    ["c", "acme"],
  ] as const) {
    await runtime.start("one", { workflowId, tenant });
  }
  await runtime.close();
  await store.close();
  const all = await cli(["ls", "--tenant", "acme", "--store", "app.db", "--json"], { cwd });
  expect(jsonLines(all.stdout)).toMatchObject([{ items: [{ workflowId: "c" }, { workflowId: "a" }] }]);
  const first = await cli(["ls", "--tenant", "acme", "--limit", "1", "--store", "app.db"], { cwd });
  expect(first.stdout).toMatch(/More: .*--tenant acme --limit 1/);
  expect((await cli(["ls", "--tenant", "nobody", "--store", "app.db"], { cwd })).stdout).toBe("No such executions in app.db\n");
});

it("ls lists the oldest first, by metadata and by the beginning of ids, and counts", async () => {
  const cwd = newFolder();
  const store = sqliteStore(join(cwd, "app.db"));
  const workflow = { id: "one", nodes: [{ id: "ask", type: "approval" }], edges: [] };
  const runtime = createRuntime({ store, workflows: [workflow], nodeDefinitions: builtinNodes, drive: false });
  const metadata = { team: "red", n: 1 };
  for (const workflowId of ["order-1", "order-2", "post-1"]) await runtime.start("one", { workflowId, metadata });
  await runtime.start("one", { workflowId: "order-3", metadata: { team: "red", n: "1" } });
  const found = await runtime.list({ metadata: { n: 1 }, order: "oldest", limit: 2 });
  expect(found.items.map(({ workflowId }) => workflowId)).toEqual(["order-1", "order-2"]);
  expect((await runtime.count({ idPrefix: "order-" })).counts.active).toBe(3);
  expect((await runtime.summaries(["post-1", "nobody"])).map(({ workflowId }) => workflowId)).toEqual(["post-1"]);
  expect((await runtime.ended({ from: 0, to: Date.now() + 1, buckets: 2 })).buckets).toHaveLength(2);
  await runtime.close();
  await store.close();
  const ids = async (...options: string[]) => {
    const { stdout } = await cli(["ls", ...options, "--store", "app.db", "--json"], { cwd });
    return (jsonLines(stdout)[0] as { items: { workflowId: string }[] }).items.map(({ workflowId }) => workflowId);
  };
  expect(await ids("--order", "oldest", "--id-prefix", "order")).toEqual(["order-1", "order-2", "order-3"]);
  expect(await ids("--meta", "team=red", "n=1")).toEqual(["post-1", "order-2", "order-1"]);
  expect(await ids("--meta", 'n="1"')).toEqual(["order-3"]);
  const more = await cli(["ls", "--id-prefix", "order", "--meta", "team=red", "--order", "oldest", "--limit", "1", "--store", "app.db"], {
    cwd,
  });
  expect(more.stdout).toMatch(/More: .*--id-prefix order --meta team=red --order oldest --limit 1/);
  const counted = await cli(["ls", "--count", "--meta", "team=red", "--store", "app.db", "--json"], { cwd });
  expect(jsonLines(counted.stdout)).toMatchObject([{ type: "counts", counts: { active: 4, failed: 0 }, complete: true }]);
  expect((await cli(["ls", "--count", "--status", "active", "--store", "app.db"], { cwd })).stdout).toMatch(/active +4/);
  expect((await cli(["ls", "--order", "random", "--store", "app.db"], { cwd })).code).toBe(2);
  expect((await cli(["ls", "--meta", "team", "--store", "app.db"], { cwd })).code).toBe(2);
});

it("show tells the variables of an execution, each with its latest value", async () => {
  const cwd = newFolder();
  const count = { id: "count", type: "set", data: { vars: { total: "{{ (vars.total ?? 0) + 2 }}", name: "Ada" } } };
  const nodes = [count, { ...count, id: "again" }, { id: "ask", type: "approval" }];
  const edges = [
    { source: "count", target: "again" },
    { source: "again", target: "ask" },
  ];
  writeFileSync(join(cwd, "flow.json"), JSON.stringify({ id: "flow", nodes, edges }));
  await cli(["run", "flow.json", "--id", "flow-1", "--store", "app.db"], { cwd });
  const { stdout } = await cli(["show", "flow-1", "--store", "app.db"], { cwd });
  expect(stdout).toContain('\nVariables\n  total = 4\n  name = "Ada"\n');
});

it("validate --no-config runs no config", async () => {
  const cwd = newFolder();
  writeFileSync(
    join(cwd, "stepfold.config.mjs"),
    'console.error("loaded"); export default { nodeDefinitions: { pay: { executor: () => null } } };',
  );
  writeFileSync(join(cwd, "w.json"), '{"id":"w","nodes":[{"id":"p","type":"pay"}],"edges":[]}');
  const read = await cli(["validate", "w.json"], { cwd });
  expect({ code: read.code, stderr: read.stderr }).toEqual({ code: 0, stderr: expect.stringContaining("loaded") });
  const unread = await cli(["validate", "w.json", "--no-config"], { cwd });
  expect(unread.code).not.toBe(0);
  expect(unread.stderr).not.toContain("loaded");
  expect(unread.stderr).toContain("stepfold.config.mjs was not read");
  expect(unread.stdout).toContain("pay");
});
