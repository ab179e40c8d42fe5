import { describe, expect, it } from "vitest";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import type { RuntimeOptions } from "../../../src/runtime/context/runtime-options.ts";
import type { Run } from "../../../src/runtime/handle/run.ts";
import type { Runtime } from "../../../src/runtime/runtime.ts";
import { type Bench, benches, edges, ended, type OpenStore, until } from "../identity/identity.fixture.ts";

// The definition of an execution is as old as the execution. What a process does not take of it matters when it performs a step.

let isBankOpen = true;
const payment = (required: readonly string[]) =>
  defineNode({
    input: { type: "object", properties: { amount: { type: "number" }, currency: { type: "string" } }, required },
    retryPolicy: { maxAttempts: 2, interval: "1h", backoff: "fixed" },
    executor(data) {
      if (!isBankOpen) throw new Error("the bank is closed");
      return { data };
    },
  });
/** The code of the release after: `pay` needs one more member. */
const stricter = { ...builtinNodes, pay: payment(["amount", "currency"]) };
const before = { ...builtinNodes, pay: payment(["amount"]) };
/** A release in which another name stands for the type. */
const renamed = { ...builtinNodes, charge: payment(["amount"]) };

const order = {
  id: "order",
  nodes: [
    { id: "ask", type: "approval", data: {} },
    { id: "news", type: "signal", data: { name: "go" } },
    { id: "pay", type: "pay", data: { amount: 5 } },
  ],
  edges: edges("ask>news@approved", "news>pay"),
};

/** A command to an execution that waits at the approval, and what shows that it had its effect. */
interface Command {
  readonly name: string;
  readonly send: (run: Run, runtime: Runtime) => Promise<unknown>;
  readonly shows: object;
}

const commands: readonly Command[] = [
  { name: "cancel", send: (run) => run.cancel({ reason: "wrong order" }), shows: { status: "cancelled" } },
  { name: "resume", send: (run) => run.resume({ payload: { approved: true } }), shows: { status: "paused", currentNodeId: "news" } },
  {
    name: "signal",
    send: (run) => run.signal("go").then(() => run.resume({ payload: { approved: true } })),
    shows: { status: "completed" },
  },
  { name: "setMetadata", send: (run) => run.setMetadata({ team: "a" }), shows: { metadata: { team: "a" } } },
  { name: "explain", send: (run) => run.explain(), shows: { status: "paused", currentNodeId: "ask" } },
  { name: "waits", send: (run) => run.waits(), shows: { status: "paused" } },
];

const releases: readonly { readonly name: string; readonly options: Partial<RuntimeOptions> }[] = [
  { name: "with a stricter schema", options: { nodeDefinitions: stricter, workflows: [] } },
  { name: "with a node type renamed", options: { nodeDefinitions: renamed, workflows: [] } },
  { name: "without any node types", options: { nodeDefinitions: {}, workflows: [] } },
];

/** Tests that no command is refused for the code of the process that sends it. */
export function stricterCode(name: string, openStore: OpenStore): void {
  describe(`an execution that a release before has begun, on ${name}`, () => {
    const bench = benches(openStore);
    const waiting = async (): Promise<Bench & { readonly run: Run }> => {
      const one = await bench([order], { nodeDefinitions: before });
      const run = await one.runtime.start("order");
      await until(run, ({ status }) => status === "paused");
      return { ...one, run };
    };

    describe.each(releases)("takes from a release $name", ({ options }) => {
      it.each(commands)("$name", async ({ send, shows }) => {
        const { elsewhere, run } = await waiting();
        const later = elsewhere({ drive: false, ...options });
        await send(await later.get(run.workflowId), later);
        expect(await until(run, (snapshot) => ended(snapshot) || matches(snapshot, shows))).toMatchObject(shows);
      });
    });

    it.each(releases)("takes a retry from a release $name", async ({ options }) => {
      const { elsewhere, run } = await waiting();
      isBankOpen = false;
      await run.signal("go");
      await run.resume({ payload: { approved: true } });
      await until(run, ({ activePaths }) => activePaths[0]?.status === "retrying");
      isBankOpen = true;
      const later = elsewhere({ drive: false, ...options });
      await (await later.get(run.workflowId)).retry();
      expect(await until(run, ended)).toMatchObject({ status: "completed" });
    });

    it("is run by the release that takes its data, however the answers came", async () => {
      const { elsewhere, run } = await waiting();
      const later = elsewhere({ drive: false, nodeDefinitions: stricter, workflows: [] });
      const there = await later.get(run.workflowId);
      await there.resume({ payload: { approved: true } });
      await there.signal("go");
      expect(await until(run, ended)).toMatchObject({ status: "completed", output: { amount: 5 } });
    });
  });
}

/** Whether an object has the members of another one. */
function matches(snapshot: object, shows: object): boolean {
  return Object.entries(shows).every(
    ([key, value]) => JSON.stringify((snapshot as Record<string, unknown>)[key]) === JSON.stringify(value),
  );
}
