import { describe, expect, it } from "vitest";
import { effort } from "../scripts/test/effort.ts";
import { aws } from "./aws.fixture.ts";
import { seeded } from "./kill9/seeded.ts";

const kills = effort.queueKills;
const startedPerKill = 4;
const seed = Number(process.env.STEPFOLD_KILL_SEED ?? 4711);

/**
 * True for an error that a busy machine may cause: the store or the queue did not answer within half a lease. The messages of that call
 * are then delivered again.
 */
function isUnanswered(error: unknown): boolean {
  return /^(Store|Queue) "[^"]+" did not answer:/.test((error as { readonly errorMessage: string }).errorMessage);
}

describe("a function of AWS Lambda", () => {
  it(`is killed ${kills} times at random moments, each message comes twice: nothing is lost, nothing is committed twice`, {
    timeout: 120_000 + kills * 10_000,
  }, async ({ skip }) => {
    const random = seeded(seed);
    const options = { deliveries: 2, leaseMs: 1_500, visibilitySeconds: 2, scheduleMs: 1_000, serviceMs: 100 };
    const { runtime, target, calls } = await aws(skip, options);
    const runs: Awaited<ReturnType<typeof runtime.start>>[] = [];
    const died = (): number => target.invocations.filter(({ status }) => status === "died").length;
    for (; died() < kills; target.killBusy()) {
      for (let started = 0; started < startedPerKill; started++) {
        const account = `${random() < 0.3 ? "theirs" : "ours"}-${runs.length}`;
        runs.push(await runtime.start("visitors", { workflowId: account, input: { account } }));
      }
      await new Promise((resolve) => setTimeout(resolve, random() * 2_000));
    }
    for (const run of runs) {
      const isOurs = run.workflowId.startsWith("ours");
      expect(await run.result({ timeoutMs: 60_000 })).toBe(isOurs ? "42 visitors" : `renew the token of ${run.workflowId}`);
      const performed: string[] = [];
      for await (const { event } of run.watch({ after: 0 })) if (event.type === "completed") performed.push(event.nodeId);
      expect(performed).toEqual(["request", isOurs ? "report" : "notify-admin"]);
    }
    // a request that is repeated after a kill has the same key
    expect(new Set(calls.map(({ key }) => key)).size).toBe(runs.length);
    expect(target.invocations.filter((one) => one.status === "failed" && !isUnanswered(one.error))).toEqual([]);
    console.log(`seed ${seed}: ${runs.length} executions, ${died()} kills, ${calls.length - runs.length} requests made again`);
  });
});
