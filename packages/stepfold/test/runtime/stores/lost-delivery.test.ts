import { afterEach, describe, expect, it } from "vitest";
import { StepfoldError } from "../../../src/core/errors/stepfold-error.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import type { Commit, SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { flow } from "../../nodes/workflow.fixture.ts";
import { closeAll, second, setUp } from "../runtime.fixture.ts";

const inner = flow("inner", { work: ["set", { got: 5 }] });
const outer = flow("outer", { call: ["workflow", { workflow: "inner", detached: true }] });
const sender = flow("sender", { ring: ["sendSignal", { name: "bell", to: "target" }] });
const target = flow("target", { wait: ["signal", { name: "bell" }] });

afterEach(closeAll);

/**
 * Makes a runtime on a store that fails over once. The store acknowledges and loses the first commit for which `isReceived` is true: the
 * commit in which a message reaches its receiver. Then the store is down for `downMs`.
 */
function failingOver(isReceived: (commit: Commit) => boolean, downMs: number) {
  const environment = virtualEnvironment();
  const memory = memoryStore({ now: () => environment.now() });
  let downUntil: number | null = null;
  const store: SnapshotStore = {
    ...memory,
    async commit(commit) {
      if (downUntil === null && isReceived(commit)) {
        downUntil = 0;
        return;
      }
      if (downUntil === 0) downUntil = environment.now() + downMs;
      if (environment.now() < (downUntil ?? 0))
        throw new StepfoldError("STORE_UNAVAILABLE", { store: "memory", reason: "its server is being replaced" });
      await memory.commit(commit);
    },
  };
  const workflows = [inner, outer, sender, target];
  const { runtime } = setUp({ store, nodeDefinitions: builtinNodes, workflows, may: () => true }, environment);
  return { runtime, environment, isLost: () => downUntil !== null };
}

const isEndOfChild = ({ workflowId, events }: Commit): boolean => workflowId === "p" && events.some(({ type }) => type === "resumed");
const isSignal = ({ workflowId, events }: Commit): boolean =>
  workflowId === "target" && events.some(({ type }) => type === "signalled" || type === "resumed");

describe("AUDIT 8: a failover that has lost what a message brought about, and not its sender", () => {
  it("costs no end of a child: it is told again before the message leaves the outbox", async () => {
    const { runtime, environment, isLost } = failingOver(isEndOfChild, 1.5 * second);
    const run = await runtime.start("outer", { workflowId: "p" });
    await environment.advance(60 * second);
    expect(isLost()).toBe(true);
    expect(await run.snapshot()).toMatchObject({ status: "completed" });
  });

  it("costs no signal of a step", async () => {
    const { runtime, environment, isLost } = failingOver(isSignal, 1.5 * second);
    const waiting = await runtime.start("target", { workflowId: "target" });
    await environment.settle();
    const run = await runtime.start("sender", { workflowId: "s" });
    await environment.advance(60 * second);
    expect(isLost()).toBe(true);
    expect(await run.snapshot()).toMatchObject({ status: "completed" });
    expect(await waiting.snapshot()).toMatchObject({ status: "completed" });
  });
});

describe("the start of a detached child", () => {
  it("is not sent any more once the claim of its parent is over, however long the store is silent", async () => {
    const environment = virtualEnvironment();
    const memory = memoryStore({ now: () => environment.now() });
    const unanswered = new StepfoldError("STORE_UNAVAILABLE", { store: "memory", reason: "its server is being replaced" });
    const sentAt: number[] = [];
    let claimedAt = Number.NaN;
    const store: SnapshotStore = {
      ...memory,
      create(commit, options) {
        if (commit.head.parent === undefined) {
          claimedAt = environment.now();
          return memory.create(commit, options);
        }
        sentAt.push(environment.now() - claimedAt);
        return Promise.reject(unanswered);
      },
      renew: () => Promise.reject(unanswered),
    };
    const { runtime } = setUp(
      { store, nodeDefinitions: builtinNodes, workflows: [inner, outer], leaseMs: 3 * second, pollMs: 60 * second },
      environment,
    );
    await runtime.start("outer", { workflowId: "p" });
    await environment.advance(15 * second);
    expect(sentAt.length).toBeGreaterThan(2);
    expect(Math.max(...sentAt)).toBeLessThan(3 * second);
  });
});
