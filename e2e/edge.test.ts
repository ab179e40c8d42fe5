import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Miniflare } from "miniflare";
import { migrateD1 } from "stepfold/stores/d1";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openWorkerd } from "../packages/stepfold/test/stores/workerd/workerd.fixture.ts";
import { root } from "./cli.ts";

const folder = mkdtempSync(join(tmpdir(), "stepfold-edge-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Shown {
  readonly status: string;
  readonly output: unknown;
  readonly waitsAt: readonly string[];
}

/** Starts workerd with an example. */
const open = (example: string, bindings: object): Promise<Miniflare> => openWorkerd(join(root, "examples/edge", example), bindings);

async function ask(workerd: Miniflare, path: string, body?: object): Promise<Shown> {
  const response = await workerd.dispatchFetch(`http://worker/${path}`, body && { method: "POST", body: JSON.stringify(body) });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return JSON.parse(text) as Shown;
}

/** Polls until the execution waits for the approval. */
async function untilAsked(workerd: Miniflare, id: string): Promise<void> {
  while (!(await ask(workerd, id)).waitsAt.includes("approve")) await sleep(50);
}

/** Polls until the execution has completed, and returns its output. */
async function outputOf(workerd: Miniflare, id: string): Promise<unknown> {
  for (;;) {
    const shown = await ask(workerd, id);
    if (shown.status === "completed") return shown.output;
    await sleep(50);
  }
}

describe("executions in a Durable Object in workerd", () => {
  let workerd: Miniflare;
  /** Starts workerd on the data that earlier instances have stored. */
  const start = (): Promise<Miniflare> => {
    const durableObjects = { ORDERS: { className: "Orders", useSQLite: true } };
    return open("durable-object.ts", { durableObjects, durableObjectsPersist: folder });
  };

  beforeAll(async () => {
    workerd = await start();
  });
  afterAll(() => workerd.dispose());

  it("are retried and go on by the object's alarm alone, and are answered by fetch", async () => {
    await ask(workerd, "one", { customer: "ada", delay: "1s", isBusy: true });
    // no request is sent while the execution waits, so only the alarm can have moved it
    await sleep(2_500);
    expect(await ask(workerd, "one")).toMatchObject({ status: "paused", waitsAt: ["approve"] });
    await ask(workerd, "one/approve", { approved: true });
    expect(await outputOf(workerd, "one")).toBe("shipped to ada");
  });

  it("are any number in one object", async () => {
    const ids = Array.from({ length: 30 }, (_, index) => `many-${index}`);
    await Promise.all(ids.map((id) => ask(workerd, id, { customer: id, delay: "100ms" })));
    for (const id of ids) await untilAsked(workerd, id);
    await Promise.all(ids.map((id) => ask(workerd, `${id}/approve`, { approved: true })));
    for (const id of ids) expect(await outputOf(workerd, id)).toBe(`shipped to ${id}`);
  });

  it("go on by the alarm after workerd was started again", async () => {
    await ask(workerd, "two", { customer: "bob", delay: "3s" });
    await workerd.dispose();
    workerd = await start();
    await untilAsked(workerd, "two");
    await ask(workerd, "two/approve", { approved: true });
    expect(await outputOf(workerd, "two")).toBe("shipped to bob");
  });

  it("are started once, and refuse what does not fit", async () => {
    await ask(workerd, "three", { customer: "cy", delay: "1h" });
    await ask(workerd, "three", { customer: "cy", delay: "1h" });
    const answer = await workerd.dispatchFetch("http://worker/three", { method: "POST", body: JSON.stringify({ customer: "dee" }) });
    expect(await answer.text()).toContain("three");
    expect(answer.status).toBe(400);
  });
});

describe("the programs of the page on the edge", () => {
  const page = readFileSync(join(root, "docs/run/edge.md"), "utf8");
  const programs = [...page.matchAll(/```typescript\n([\s\S]*?)```/g)].map(([, code = ""]) => code);
  const pasted = mkdtempSync(join(root, "e2e", ".edge-"));
  const opened: Miniflare[] = [];
  afterAll(async () => {
    for (const workerd of opened) await workerd.dispose();
    rmSync(pasted, { recursive: true, force: true });
  });

  it.each([
    ["a Durable Object", 0, { durableObjects: { REMINDERS: { className: "Reminders", useSQLite: true } } }],
    ["D1", 1, { d1Databases: ["DB"] }],
  ] as const)("run as pasted: %s", async (_, index, bindings) => {
    const file = join(pasted, `${index}.ts`);
    writeFileSync(file, programs[index]!);
    const workerd = await openWorkerd(file, bindings);
    opened.push(workerd);
    if ("d1Databases" in bindings) await migrateD1(await workerd.getD1Database("DB"));
    const body = JSON.stringify({ what: "stretch", delay: "300ms" });
    await workerd.dispatchFetch("http://worker/reminder-1", { method: "POST", body });
    let output: unknown = null;
    while (output === null) {
      await sleep(100);
      if ("d1Databases" in bindings) await (await workerd.getWorker()).scheduled();
      output = await (await workerd.dispatchFetch("http://worker/reminder-1")).json();
    }
    expect(output).toBe("Time to stretch");
  });
});

describe("executions in D1 in workerd", () => {
  let workerd: Miniflare;
  beforeAll(async () => {
    workerd = await open("d1.ts", { d1Databases: ["DB"] });
    await migrateD1(await workerd.getD1Database("DB"));
  });
  afterAll(() => workerd.dispose());

  it("run with the request that makes them due, and by the cron trigger", async () => {
    await ask(workerd, "one", { customer: "ada", delay: "200ms", isBusy: true });
    for (;;) {
      await sleep(200);
      await (await workerd.getWorker()).scheduled();
      if ((await ask(workerd, "one")).waitsAt.includes("approve")) break;
    }
    await ask(workerd, "one/approve", { approved: true });
    expect(await outputOf(workerd, "one")).toBe("shipped to ada");
  });
});
