import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRuntime } from "stepfold/runtime";
import { schedules } from "stepfold/schedules";
import { sqliteStore } from "stepfold/stores/sqlite";
import { describe, expect, it } from "vitest";
import { newFolder, type Running, startCli } from "./cli.ts";

const work = {
  id: "work",
  nodes: [
    { id: "begin", type: "set", data: "{{ input.at }}" },
    { id: "rest", type: "wait", data: { for: "200ms" } },
    { id: "finish", type: "set", data: "done" },
  ],
  edges: [
    { source: "begin", target: "rest" },
    { source: "rest", target: "finish" },
  ],
};
const [count, ticks, processes, kills] = [20, 12, 3, 8];

describe("schedules of processes that are killed", () => {
  it("start each tick once: no tick is lost, and none comes twice", { timeout: 300_000 }, async ({ onTestFinished }) => {
    const cwd = newFolder();
    writeFileSync(join(cwd, "stepfold.config.mjs"), `export default { workflows: [${JSON.stringify(work)}] };`);
    const store = sqliteStore(join(cwd, "app.db"), { synchronous: "NORMAL" });
    const runtime = createRuntime({ store, nodeDefinitions: {}, drive: false, schedules: schedules() });
    onTestFinished(async () => {
      await runtime.close();
      await store.close();
    });
    const names = Array.from({ length: count }, (_, i) => `s${i}`);
    const at = Date.now();
    for (const name of names) await runtime.schedules.create(name, { workflow: "work", every: "1s", count: ticks, overlap: "allow" });
    const begin = (): Running => startCli(["worker", "--store", "app.db", "--json"], { cwd, env: { STEPFOLD_LEASE_MS: "1000" } });
    const workers = Array.from({ length: processes }, begin);
    for (let kill = 0; kill < kills; kill++) {
      await new Promise((resolve) => setTimeout(resolve, 1_200));
      const victim = kill % processes;
      workers[victim]!.child.kill("SIGKILL");
      workers[victim] = begin();
    }
    const open = async (): Promise<number> => (await runtime.schedules.list({ limit: 100 })).items.length;
    while ((await open()) > 0) await new Promise((resolve) => setTimeout(resolve, 500));
    for (const name of names) {
      const list = () => runtime.list({ idPrefix: `${name}@`, order: "oldest", limit: 100 });
      while ((await list()).items.some(({ status }) => status !== "completed")) await new Promise((resolve) => setTimeout(resolve, 300));
      const started = (await list()).items.map(({ workflowId }) => Date.parse(workflowId.slice(name.length + 1))).sort((a, b) => a - b);
      const first = started[0]!;
      expect(first).toBeGreaterThan(at);
      // each second one, and no other
      expect(started).toEqual(Array.from({ length: ticks }, (_, i) => first + 1_000 * i));
      expect((await runtime.schedules.describe(name)).problems).toEqual([]);
    }
    for (const { child } of workers) child.kill("SIGTERM");
    for (const { ended } of workers) await ended;
  });
});
