import { describe, expect, it, vi } from "vitest";
import { aws } from "./aws.fixture.ts";

const patience = { timeoutMs: 60_000 };

describe("the example aws: DynamoDB Local, an emulator of SQS, and functions that are frozen between calls", () => {
  it("does what the delay of a message is for: an attempt fails, and the next one is made by another call in time", async ({ skip }) => {
    const { runtime, target, calls } = await aws(skip);
    const runs = await Promise.all(
      ["ours", "flaky", "theirs"].map((account) => runtime.start("visitors", { workflowId: account, input: { account } })),
    );
    expect(await Promise.all(runs.map((run) => run.result(patience)))).toEqual(["42 visitors", "42 visitors", "renew the token of theirs"]);
    const attempts = calls.filter(({ account }) => account === "flaky");
    expect(attempts).toHaveLength(3);
    expect(attempts[1]!.atMs - attempts[0]!.atMs).toBeGreaterThanOrEqual(1_000);
    expect(attempts[2]!.atMs - attempts[1]!.atMs).toBeGreaterThanOrEqual(2_000);
    expect(calls).toHaveLength(5);
    expect(target.invocations.length).toBeGreaterThanOrEqual(3);
    expect(target.invocations).toEqual(target.invocations.map(() => ({ status: "answered", value: { batchItemFailures: [] } })));
  });

  it("goes on after the function was killed in the middle of a step: its message comes again when the lease is over", async ({ skip }) => {
    const { runtime, target, calls, nextCall } = await aws(skip, { leaseMs: 2_000, visibilitySeconds: 4 });
    const asked = nextCall("silent");
    const run = await runtime.start("visitors", { workflowId: "silent", input: { account: "silent" } });
    await asked;
    expect(target.killBusy()).toBe(1);
    expect(await run.result(patience)).toBe("42 visitors");
    expect(target.invocations[0]).toEqual({ status: "died" });
    expect(calls).toHaveLength(2);
    // both requests have the same key, so the service can see that they are the same
    expect(new Set(calls.map(({ key }) => key)).size).toBe(1);
  });

  it("goes on although the message came again too early: the schedule finds what the dead function held", async ({ skip }) => {
    const { runtime, target, calls, nextCall } = await aws(skip, { leaseMs: 6_000, visibilitySeconds: 1, scheduleMs: 1_000 });
    const asked = nextCall("silent");
    const run = await runtime.start("visitors", { workflowId: "silent", input: { account: "silent" } });
    await asked;
    expect(target.killBusy()).toBeGreaterThanOrEqual(1);
    expect(await run.result(patience)).toBe("42 visitors");
    expect(calls).toHaveLength(2);
    // the result may be in the store before the function has answered
    const swept = { status: "answered", value: { advanced: 1, left: [], failed: [], isMore: false } };
    await vi.waitFor(() => expect(target.invocations).toContainEqual(swept), 5_000);
  });

  it("performs each attempt once, although each message is delivered twice at the same time", async ({ skip }) => {
    const { runtime, target, calls } = await aws(skip, { deliveries: 2, scheduleMs: 500 });
    const accounts = ["ours", "theirs", "flaky", ...Array.from({ length: 10 }, (_, i) => `other-${i}`)];
    const runs = await Promise.all(accounts.map((account) => runtime.start("visitors", { workflowId: account, input: { account } })));
    await Promise.all(runs.map((run) => run.result(patience)));
    // the service is asked once for each account, but three times for the one that fails twice
    expect(calls.map(({ account }) => account).sort()).toEqual([...accounts, "flaky", "flaky"].sort());
    expect(target.invocations.filter(({ status }) => status !== "answered")).toEqual([]);
  });

  it("ends before the function's time is up, and the next call makes the step again", async ({ skip }) => {
    const { runtime, target, calls } = await aws(skip, { timeoutMs: 4_000 });
    const run = await runtime.start("visitors", { workflowId: "silent", input: { account: "silent" } });
    expect(await run.result(patience)).toBe("42 visitors");
    expect(calls).toHaveLength(2);
    expect(calls[1]!.atMs - calls[0]!.atMs).toBeLessThan(8_000);
    await vi.waitFor(() => expect(target.invocations.map(({ status }) => status)).toEqual(["answered", "answered"]), 5_000);
  });
});
