import { afterEach, expect, it } from "vitest";
import { closeAll, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const order = (name: string) => ({ id: "order", nodes: [{ id: "ask", type: "ask", name }], edges: [] });

it("lists the definitions of executions that were started, the newest first", async () => {
  const monday = setUp({ workflows: [order("Monday")] });
  const { store, environment } = monday;
  expect(await monday.runtime.definitions()).toEqual([]);
  await monday.runtime.start("order", { workflowId: "order-1" });
  await environment.advance(second);
  const tuesday = setUp({ store, workflows: [order("Tuesday")] }, environment);
  await tuesday.runtime.start("order", { workflowId: "order-2" });
  await tuesday.runtime.start("order", { workflowId: "order-3" });
  const { hash: first } = monday.runtime.describe().workflows[0]!;
  const { hash: last } = tuesday.runtime.describe().workflows[0]!;
  const listed = await tuesday.runtime.definitions({ id: "order" });
  expect(listed.map(({ hash }) => hash)).toEqual([last, first]);
  expect(listed.every(({ putAt }) => putAt <= environment.now())).toBe(true);
  expect(await tuesday.runtime.definitions({ id: "other" })).toEqual([]);
  await expect(tuesday.runtime.definitions({ limit: 0 })).rejects.toMatchObject({ code: "OPTION_INVALID", details: { option: "limit" } });
});

it("lists no definition that was only handed to a start: a program may make one for each execution", async () => {
  const { runtime } = setUp({ workflows: [order("Monday")] });
  await runtime.start(order("made for this one"), { workflowId: "order-1" });
  expect(await runtime.definitions()).toEqual([]);
  await runtime.start("order", { workflowId: "order-2" });
  expect(await runtime.definitions()).toHaveLength(1);
});

it("lists none of a store that does not know them", async () => {
  const { store, environment } = setUp({});
  const { listDefinitions: _, label: __, labels: ___, ...without } = store;
  const { runtime } = setUp({ store: without }, environment);
  expect(await runtime.definitions()).toEqual([]);
});
