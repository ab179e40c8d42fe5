import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SnapshotStore } from "stepfold";
import { createRuntime } from "stepfold/runtime";
import { siteFromUrl } from "stepfold/stores/from-url";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { tellNotTested } from "../scripts/servers/service-url.ts";
import { effort } from "../scripts/test/effort.ts";
import { type Claimed, type RateSetting, ratedNodes, ratedWorkflow } from "./racing-rates-workflow.ts";
import { racingStores } from "./racing-stores.ts";

const processes = 4;
const script = new URL("./racing-rates.ts", import.meta.url);
const { periodMs, used: atLeastUsed } = effort.rates;

let folder = "";
const children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "stepfold-rates-"));
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** Starts processes that drive the executions. Returns the time of the first claim of each execution, by its id. */
async function drive(setting: RateSetting): Promise<ReadonlyMap<string, number>> {
  const first = new Map<string, number>();
  const note = ([workflowId, atMs]: Claimed): void => void first.set(workflowId, Math.min(atMs, first.get(workflowId) ?? atMs));
  await Promise.all(
    Array.from({ length: processes }, async () => {
      const child = fork(script, [JSON.stringify(setting)], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
      children.push(child);
      await new Promise<void>((resolve) => {
        child.on("message", (claimed: Claimed[]) => {
          for (const one of claimed) note(one);
          resolve();
        });
      });
    }),
  );
  return first;
}

/** Waits until all executions have completed, and returns their number. */
async function completed(store: SnapshotStore, executions: number): Promise<number> {
  for (;;) {
    const { completed: done } = (await store.count!({ status: ["completed"] }, executions + 1)).counts;
    if (done >= executions) return done;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/**
 * Returns the number of executions and the limit for a store. Both are smaller for DynamoDB Local, which is slower than the real
 * service.
 */
function amountsOn(name: string): { readonly executions: number; readonly limit: number } {
  const { executions, limit } = effort.rates;
  return name === "dynamodb" && limit > 100 ? { executions: executions / 50, limit: limit / 50 } : { executions, limit };
}

describe.each(racingStores.filter(({ rounds }) => rounds === effort.races))("four processes on $name", ({ name, open }) => {
  const { executions, limit } = amountsOn(name);
  const what = `begin ${executions} executions, no more than ${limit} of them in any ${periodMs} ms, and hardly fewer`;
  it(what, { timeout: 900_000 }, async ({ skip }) => {
    const opened = await open(folder);
    if (!opened) {
      tellNotTested(`NOT TESTED: no server answers for ${name}`);
      skip(`NOT TESTED: no server answers for ${name}`);
      return;
    }
    const site = await siteFromUrl(opened.url);
    const store = await site.open(site.space, { migrate: true });
    const setting: RateSetting = { url: opened.url, rateLimit: { limit, period: periodMs }, pollMs: 100 };
    const runtime = createRuntime({ store, nodeDefinitions: ratedNodes, workflows: [ratedWorkflow(setting.rateLimit)], drive: false });
    for (let done = 0; done < executions; done += 20) {
      const ids = Array.from({ length: Math.min(20, executions - done) }, (_, index) => `e${done + index}`);
      await Promise.all(ids.map((workflowId) => runtime.start("rated", { workflowId })));
    }
    const first = await drive(setting);
    expect(await completed(store, executions)).toBe(executions);
    // a process reports its claims before it runs them, but the test may not have read the last report yet
    await vi.waitFor(() => expect(first.size).toBe(executions), 10_000);

    const times = [...first.values()].sort((a, b) => a - b);
    const skewMs = store.features.clock === "caller" ? 1_000 : 0;
    const early = times.filter((at, index) => index >= limit && at - times[index - limit]! < periodMs + skewMs);
    expect(early).toEqual([]);
    // the stored events agree: each execution began after its claim, and only once
    for (const workflowId of [...first.keys()].filter((_, index) => index % 100 === 0)) {
      const events = await store.events(workflowId, -1, 10);
      expect(events.map(({ event }) => event.type)).toEqual(["started", "completed", "completed"]);
      expect(events[1]!.event.at).toBeGreaterThanOrEqual(first.get(workflowId)!);
    }
    // the largest possible number: one full limit at once, and then one full limit per period
    const spans = (times.at(-1)! - times[0]!) / (periodMs + skewMs);
    const used = executions / (limit * (spans + 1));
    console.log(
      `${name}: ${executions} executions began in ${((times.at(-1)! - times[0]!) / 1000).toFixed(1)} s, ${(used * 100).toFixed(1)} % of what may`,
    );
    expect(used).toBeGreaterThan(atLeastUsed);

    for (const child of children.splice(0)) {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.send("stop");
      await ended;
    }
    await runtime.close();
    await store.close();
    if (site.hasSpaces) await site.drop(site.space);
    await site.close();
    await opened.close();
  });
});
