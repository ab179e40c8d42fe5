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
