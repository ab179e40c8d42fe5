import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineDurable } from "stepfold";
import { createRuntime } from "stepfold/runtime";
import { sqliteStore } from "stepfold/stores/sqlite";
import { expect, it } from "vitest";
import { cli, jsonLines, newFolder } from "./cli.ts";

const code = (...steps: readonly string[]): string => `
  import { defineDurable } from "stepfold";
  const order = defineDurable({ id: "order", async run({ step }) {
    ${steps.map((name) => `await step.run("${name}", () => { throw new Error("a replay performs nothing"); });`).join("\n")}
    await step.sleep("pause", "1d");
  } });
  export default { workflows: [order] };`;

it("replay lists the open executions that the code of the config would park, and changes nothing", async () => {
  const cwd = newFolder();
  const store = sqliteStore(join(cwd, "app.db"));
  const order = defineDurable({
    id: "order",
    async run({ step }) {
      await step.run("reserve", () => 1);
      await step.sleep("pause", "1d");
    },
  });
  const other = { id: "other", nodes: [{ id: "own", type: "own" }], edges: [] };
  const own = { executor: () => ({ __pause: true as const }) };
  const runtime = createRuntime({ store, workflows: [order, other], nodeDefinitions: { own } });
  for (const workflowId of ["a", "b"]) await (await runtime.start("order", { workflowId })).waitFor("paused");
  await (await runtime.start("other", { workflowId: "c" })).waitFor("paused");
  await runtime.close();
  const before = await Promise.all(["a", "b", "c"].map((id) => store.load(id)));

  const replay = (...options: string[]) => cli(["replay", "--store", "app.db", ...options], { cwd });
  writeFileSync(join(cwd, "stepfold.config.mjs"), code("reserve"));
  expect(await replay("--workflow", "order")).toMatchObject({
    code: 0,
    stdout: "✔ 2 open executions: this deployment can go on with all of them\n",
  });
  expect(await replay()).toMatchObject({ code: 1, stdout: expect.stringContaining("c (other) would be left to other workers:") });

  writeFileSync(join(cwd, "stepfold.config.mjs"), code("mail", "reserve"));
  const changed = await replay("--workflow", "order");
  expect(changed.code).toBe(1);
  expect(changed.stdout).toContain(
    '✖ a (order) would be parked: step 1 was "reserve" (completed, version 1), and the code now asks for "mail"\n',
  );
  expect(changed.stdout).toContain("✖ 2 open executions: this deployment would park 2\n");
  const lines = jsonLines((await replay("--json")).stdout);
  expect(lines).toHaveLength(4);
  expect(lines).toContainEqual(
    expect.objectContaining({ type: "difference", workflowId: "b", definitionId: "order", code: "CODE_CHANGED" }),
  );
  expect(lines.at(-1)).toEqual({ type: "replay", parked: 2, left: 1, replayed: 3 });

  expect(await Promise.all(["a", "b", "c"].map((id) => store.load(id)))).toEqual(before);
  await store.close();
});
