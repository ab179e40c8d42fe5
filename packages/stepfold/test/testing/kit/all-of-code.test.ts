// Whatever code can ask for passes the replay check, and the kit shows where it has gone.
import { expect, it } from "vitest";
import { defineDurable } from "../../../src/durable/define-durable.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { testRun } from "../../../src/testing/kit/test-run.ts";

const anything = { type: "object" } as const;

const item = defineDurable({
  id: "item",
  waits: { ok: anything },
  async run({ input, step }) {
    const weight = await step.run("weigh", () => Number(input) * 2);
    if (weight > 4) await step.waitFor("ok");
    return weight;
  },
});

it("children, maps and detached executions of code", async () => {
  const all = defineDurable({
    id: "all",
    workflows: [item],
    async run({ step }) {
      const one = await step.call("one", item, 1);
      const many = await step.map("many", [1, 2, 3], item);
      const apart = await step.start("apart", item, 2);
      return [one, many, apart];
    },
  });
  await using t = await testRun(all, { workflows: [item], mocks: { "many[1]/weigh": 0 } });
  expect(t.waits).toMatchObject([{ address: "many[2]/ok" }]);
  await t.crash();
  await t.resume({ step: "many[2]/ok", payload: {} });
  expect(t.output).toEqual([2, [2, 0, 6], 4]);
  expect(t.way).toEqual(["one", "one/weigh", "many", "many[0]/weigh", "many[1]/weigh", "many[2]/weigh", "many[2]/ok", "apart"]);
  expect(t.calls("weigh").filter(({ workflowId }) => workflowId !== "test")).toHaveLength(1);
});

it("code in a graph, races, retries, caught failures and further runs", async () => {
  const retried = { maxAttempts: 2, interval: "1h" };
  const loop = defineDurable({
    id: "loop",
    async run({ input, step }) {
      const round = Number(input);
      const winner = await Promise.race([step.sleep("pause", "1h").then(() => "pause"), step.sleep("longer", "2h").then(() => "longer")]);
      await step.run("flaky", { retry: retried }, () => 0);
      const caught = await step.run("bad", () => 0).catch(({ message }: Error) => message);
      if (round < 2) return step.continueAs(round + 1);
      return [winner, caught, step.now() > 0];
    },
  });
  const busy = new Error("busy");
  await using t = await testRun(loop, { input: 1, mocks: { flaky: [busy, 1, busy, 1], bad: new Error("never") } });
  await t.advance("1h");
  await t.crash();
  await t.advance("4h");
  expect(t.output).toEqual(["pause", "never", true]);
  expect(t.calls("flaky")).toHaveLength(4);

  const graph = {
    id: "graph",
    nodes: [
      { id: "code", type: "workflow", data: { workflow: "item", input: 3 } },
      { id: "done", type: "set", data: "{{ $json + 1 }}" },
    ],
    edges: [{ source: "code", target: "done" }],
    workflows: { item: item.definition },
  };
  await using g = await testRun(graph, { nodeDefinitions: { ...builtinNodes, ...item.nodes } });
  await g.resume("code/ok", {});
  expect(g.output).toBe(7);
  expect(g.way).toEqual(["code", "code/weigh", "code/ok", "done"]);
});

it("what is undone, and what is performed again after a restart", async () => {
  const trip = defineDurable({
    id: "trip",
    nodes: { refund: { executor: () => ({ data: null }) } },
    async run({ step }) {
      await step.run("hotel", { undo: { type: "refund", data: "H-7" } }, () => "H-7");
      return step.run("flight", () => "F-1");
    },
  });
  await using t = await testRun(trip, { mocks: { flight: [new Error("sold out"), "F-2"] } });
  expect(t.status).toBe("failed");
  expect(t.way).toEqual(["hotel", "flight", "undo hotel"]);
  expect(t.calls("refund")).toMatchObject([{ address: "hotel", data: "H-7" }]);
  await (await t.runtime.get(t.workflowId)).restart({ compensated: "again" });
  await t.settle();
  expect(t.output).toBe("F-2");
  expect(t.calls("hotel")).toHaveLength(2 + 1);
});
