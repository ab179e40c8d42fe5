import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtinNodes } from "stepfold/nodes";
import { createRuntime } from "stepfold/runtime";
import { afterEach, expect, it, vi } from "vitest";
import { dlqRetry } from "../src/commands/dlq.ts";
import { chooseDatabase, openQuietly, type Store } from "../src/store/database.ts";
import { flow } from "./flow.fixture.ts";

const folders: string[] = [];

afterEach(() => {
  vi.restoreAllMocks();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Makes a database with two executions that are parked, as a store parks them that cannot leave them to other workers, and one that is not. */
async function databaseWithParked(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "stepfold-dlq-"));
  folders.push(folder);
  const path = join(folder, "a.db");
  const store = await openQuietly(chooseDatabase(path));
  const workflows = [flow("rare", { a: "rare" }), flow("ask", { a: "approval" })];
  const nodeDefinitions = { ...builtinNodes, rare: builtinNodes.noop };
  const starter = createRuntime({ store, workflows, nodeDefinitions, drive: false });
  for (const workflowId of ["one", "two"]) await starter.start("rare", { workflowId });
  await starter.start("ask", { workflowId: "fine" });
  await starter.close();
  const { taskQueues: _, ...features } = store.features;
  const worker = createRuntime({ store: { ...store, features }, nodeDefinitions: builtinNodes, pollMs: 5, onProblem: () => undefined });
  await vi.waitFor(async () => expect(await statuses(store)).toEqual({ one: "parked", two: "parked", fine: "paused" }), 10_000);
  await worker.close();
  await store.close();
  return path;
}

async function statuses(store: Store): Promise<Record<string, string>> {
  const { items } = await store.list({});
  return Object.fromEntries(items.map(({ workflowId, status }) => [workflowId, status]));
}

async function statusesIn(path: string): Promise<Record<string, string>> {
  const store = await openQuietly(chooseDatabase(path));
  try {
    return await statuses(store);
  } finally {
    await store.close();
  }
}

/** Collects what is written to standard output. */
function heard(): string[] {
  const texts: string[] = [];
  vi.spyOn(process.stdout, "write").mockImplementation((text) => texts.push(String(text)) > 0);
  return texts;
}

it("dlq retry changes nothing if one of the executions is not parked, or does not exist", async () => {
  const path = await databaseWithParked();
  const texts = heard();
  await expect(dlqRetry(["one", "fine", "two"], { store: path })).rejects.toMatchObject({
    code: "NOT_PARKED",
    message: 'Execution "fine" is not parked',
    details: { workflowIds: ["fine"] },
  });
  await expect(dlqRetry(["one", "missing"], { store: path })).rejects.toMatchObject({ code: "WORKFLOW_NOT_FOUND" });
  expect(await statusesIn(path)).toEqual({ one: "parked", two: "parked", fine: "paused" });
  expect(texts).toEqual([]);
});

it("dlq retry lets each of the executions go on, once", async () => {
  const path = await databaseWithParked();
  const texts = heard();
  expect(await dlqRetry(["one", "two", "one"], { store: path, json: true })).toBe(0);
  expect(texts.map((text) => JSON.parse(text) as unknown)).toEqual([
    { type: "unparked", workflowId: "one" },
    { type: "unparked", workflowId: "two" },
  ]);
  expect(await statusesIn(path)).toEqual({ one: "active", two: "active", fine: "paused" });
  await expect(dlqRetry(["one", "two"], { store: path })).rejects.toMatchObject({ message: 'Executions "one", "two" are not parked' });
  expect(await dlqRetry([], { store: path, all: true })).toBe(0);
});
