import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, type TestContext } from "vitest";
import { behindProxy, type ServedStore } from "./kill9/behind-proxy.ts";
import { brownOuts, type GrayOptions, longestStartMs, silences } from "./kill9/gray.ts";
import { notTested } from "./kill9/not-tested.ts";
import { faultsOf, noFaults } from "./kill9/outcome.ts";
import { reportGray } from "./kill9/report.ts";
import { leaseMs } from "./kill9/run.ts";

const seed = Number(process.env.STEPFOLD_KILL_SEED ?? 20_260);

async function grayBench(name: ServedStore, { skip, onTestFinished }: TestContext): Promise<GrayOptions> {
  const behind = await behindProxy(name);
  if (!behind) return notTested(`no server answers for ${name}: scripts/services up`, skip);
  const folder = mkdtempSync(join(tmpdir(), "stepfold-gray-"));
  onTestFinished(async () => {
    await behind.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  return { ...behind, folder, seed, times: 1 };
}

const stores = ["postgres", "mysql", "redis"] as const;

describe("a store whose answers come too late for ten leases", () => {
  it.concurrent.for(stores)("%s: nothing is parked, and all goes on by itself", { timeout: 300_000 }, async (name, context) => {
    const ended = await brownOuts(await grayBench(name, context));
    console.log(reportGray(ended).join("\n"));
    expect(faultsOf(ended)).toEqual(noFaults);
    // the exact time depends on the machine and is printed by `npm run kill9`
    expect(ended.made.stoodStillMs).toBeLessThan(20 * leaseMs);
  });
});

describe("half of the connections to a store are silent, and new ones work", () => {
  it.concurrent.for(stores)("%s: starts are answered, timers fire, all goes on", { timeout: 300_000 }, async (name, context) => {
    const ended = await silences(await grayBench(name, context));
    console.log(reportGray(ended).join("\n"));
    expect(faultsOf(ended)).toEqual(noFaults);
    expect(ended.made.longestStartMs).toBeLessThan(longestStartMs);
    expect(ended.made.stoodStillMs).toBeLessThan(longestStartMs);
  });
});
