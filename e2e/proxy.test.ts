import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { StepfoldError } from "stepfold";
import { createRuntime, type Runtime } from "stepfold/runtime";
import { describe, expect, it, type TestContext } from "vitest";
import { behindProxy } from "./kill9/behind-proxy.ts";
import { loadNodes, loadWorkflows } from "./kill9/load.ts";
import { notTested } from "./kill9/not-tested.ts";
import { answerMs, openStore } from "./kill9/open-store.ts";
import { faultsOf, noFaults } from "./kill9/outcome.ts";
import type { TcpProxy, Weather } from "./kill9/proxy.ts";
import { reportRun } from "./kill9/report.ts";
import { run } from "./kill9/run.ts";
import type { Target } from "./kill9/stored.ts";

/** Kinds of weather, each with its duration in milliseconds. A client gives up a connection that swallows packets after `answerMs`. */
const storms: readonly (readonly [Weather, number])[] = [
  ["delay", 1_500],
  ["reset", 1_000],
  ["swallow", answerMs + 1_500],
];
/**
 * The longest time of a call: a start is retried for 10 s, each attempt ends after `answerMs`, and so does the connection attempt of
 * the next one.
 */
const longestCallMs = 10_000 + 6 * answerMs;
/** A claim whose answer was swallowed holds its execution for this time, which is longer than a client waits for an answer. */
const leaseMs = 2 * answerMs;

async function bench(
  name: "postgres" | "redis",
  { skip, onTestFinished }: Pick<TestContext, "skip" | "onTestFinished">,
): Promise<{ folder: string; proxy: TcpProxy; target: Target }> {
  const behind = await behindProxy(name);
  if (!behind) return notTested(`no server answers for ${name}`, skip);
  const folder = mkdtempSync(join(tmpdir(), "stepfold-proxy-"));
  onTestFinished(async () => {
    await behind.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  return { ...behind, folder };
}

describe.concurrent.each(["postgres", "redis"] as const)("a network that delays, breaks and swallows, before %s", (name) => {
  it("costs nothing that was acknowledged, and workers recover by themselves", { timeout: 300_000 }, async ({ skip, onTestFinished }) => {
    const { proxy, ...options } = await bench(name, { skip, onTestFinished });
    const ended = await run({ ...options, workers: 3, clients: 1, client: { openAtOnce: 30 } }, async () => {
      for (const [weather, forMs] of storms) {
        await sleep(700);
        proxy.set(weather);
        await sleep(forMs);
        proxy.set("through");
      }
    });
    console.log(reportRun(ended).join("\n"));
    expect(faultsOf(ended)).toEqual(noFaults);
    expect(ended.acknowledged.transitions).toBeGreaterThan(100);
  });

  it("is told to callers in bounded time, and they can simply call again", { timeout: 300_000 }, async ({ skip, onTestFinished }) => {
    const { proxy, target } = await bench(name, { skip, onTestFinished });
    const { store, close } = await openStore(target.url);
    const nodeDefinitions = loadNodes(() => undefined);
    const runtime = createRuntime({ store, workflows: loadWorkflows, nodeDefinitions, leaseMs, pollMs: 200 });
    await (await runtime.start("asking", { workflowId: "waits" })).settled();

    for (const weather of ["reset", "swallow"] as const) {
      proxy.set(weather);
      const outcomes = await Promise.all(callsOf(runtime, weather).map(timed));
      for (const { tookMs, error } of outcomes) {
        expect(error).toMatchObject({ code: expect.stringMatching(/^(STORE_UNAVAILABLE|OUTCOME_UNKNOWN)$/), retryable: true });
        expect(tookMs).toBeLessThan(longestCallMs);
      }
      proxy.set("through");
      await Promise.all(callsOf(runtime, weather).map((call) => again(call)));
    }
    expect(await (await runtime.get("waits")).result()).toMatchObject({ key: expect.stringMatching(/^waits\//) });
    await runtime.close();
    await close();
  });
});

/** Returns calls that are made in this weather. Each weather answers another one of the two waits. */
function callsOf(runtime: Runtime, weather: "reset" | "swallow"): (() => Promise<unknown>)[] {
  const step = weather === "reset" ? "first" : "second";
  return [
    () => runtime.start("line", { workflowId: `started-in-${weather}` }),
    () => runtime.get("waits"),
    async () => (await runtime.get("waits")).resume({ step, payload: 1, idempotencyKey: weather }),
  ];
}

async function timed(call: () => Promise<unknown>): Promise<{ readonly tookMs: number; readonly error: unknown }> {
  const began = performance.now();
  const error = await call().then(
    () => "it succeeded",
    (thrown: unknown) => thrown,
  );
  return { tookMs: performance.now() - began, error };
}

/** Repeats a call while its error is retryable, as a caller does when the store is away. */
async function again(call: () => Promise<unknown>): Promise<void> {
  for (const deadline = performance.now() + 30_000; ; ) {
    try {
      await call();
      return;
    } catch (error) {
      if (!StepfoldError.is(error) || !error.retryable || performance.now() > deadline) throw error;
    }
  }
}
