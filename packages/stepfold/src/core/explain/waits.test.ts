import { describe, expect, it } from "vitest";
import { bench, flow } from "../../../test/nodes/workflow.fixture.ts";
import type { Command } from "../../engine/commands/command.ts";
import type { WorkflowEngine } from "../../engine/workflow-engine.ts";
import type { builtinNodes } from "../../nodes/index.ts";
import { addressOf } from "../snapshot/address.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { waits } from "./waits.ts";
import { addresses } from "./waits-address.ts";

const review = flow("review", { approve: ["approval", { title: "{{ input }}", responders: ["ada", "bob", "cy"], quorum: 2 }] });
const everything = flow(
  "w",
  {
    start: "noop",
    each: ["map", { workflow: "review", items: ["a", "b"] }],
    settle: ["race", { signals: [{ name: "paid", key: "{{ input.order }}" }, { name: "revoked" }], timer: { for: "1 day" } }],
    ask: ["approval", { timeout: "1h" }],
  },
  ["start>each", "start>settle", "start>ask"],
  { workflows: { review } },
);

async function paused(): Promise<{ engine: WorkflowEngine<typeof builtinNodes>; snapshot: Snapshot; now: number }> {
  const { engine, clock } = bench(everything);
  return { engine, snapshot: await engine.execute({ input: { order: "o-1" } }), now: clock.now() };
}

describe("waits", () => {
  it("lists what an execution waits for in every scope, and how each is answered", async () => {
    const { snapshot } = await paused();
    expect(waits(snapshot).map(({ address, kind, answer }) => [address, kind, answer])).toEqual([
      ["settle", "signal", { type: "signal", name: "paid", key: "o-1" }],
      ["settle", "signal", { type: "signal", name: "revoked" }],
      ["settle", "timer", null],
      ["ask", "external", { type: "resume", target: "0.2@2" }],
      ["each[0]/approve", "external", { type: "resume", target: "0#2/0>0@2" }],
      ["each[1]/approve", "external", { type: "resume", target: "0#2/1>0@2" }],
    ]);
  });

  it("tells what was said, until when it counts, who may answer and how many more have to", async () => {
    const { engine, snapshot, now } = await paused();
    const [, , timer, ask, first] = waits(snapshot);
    expect(timer).toMatchObject({ resumeAt: now + 86_400_000 });
    expect(ask).toMatchObject({ nodeId: "ask", timeoutAt: now + 3_600_000, schema: { required: ["approved"] } });
    expect(ask).not.toHaveProperty("missing");
    const asked = { payload: { title: "a" }, responders: ["ada", "bob", "cy"], tally: "approved" };
    expect(first).toMatchObject({ ...asked, answered: [], missing: 2 });
    const say = (from: Snapshot, by: string, approved: boolean): Promise<Snapshot> =>
      engine.send(from, { type: "resume", target: first!.id, payload: { approved }, by });
    const one = await say(snapshot, "ada", true);
    expect(waits(one)[4]).toMatchObject({ answered: ["ada"], missing: 1 });
    // an answer that does not count for the quorum does not change the number of missing answers
    expect(waits(await say(one, "bob", false))[4]).toMatchObject({ answered: ["ada", "bob"], missing: 1 });
  });

  it("tells nothing that only concerns how an execution is stored and begun", () => {
    const timer = { id: "0@2", kind: "timer", resumeAt: 5, begins: true };
    const asked = { id: "0@3", kind: "external", payload: "long", inEvents: { payload: "7/waits/0" } };
    expect(waits({ activePaths: [{ nodeId: "n", waits: [timer, asked] }] } as never)).toEqual([
      { id: "0@2", kind: "timer", resumeAt: 5, address: "n", nodeId: "n", answer: null },
      { id: "0@3", kind: "external", payload: "long", address: "n", nodeId: "n", answer: { type: "resume", target: "0@3" } },
    ]);
  });

  it("counts every answer where none is told from another", () => {
    const wait = { id: "0@2", kind: "external", quorum: 3, answers: [{ by: "ada", at: 1 }] };
    expect(waits({ activePaths: [{ nodeId: "n", waits: [wait] }] } as never)).toMatchObject([{ missing: 2, answered: ["ada"] }]);
  });

  it("gives answers that can be sent as they are, with a payload", async () => {
    const { engine, snapshot } = await paused();
    for (const { answer, address } of waits(snapshot)) {
      if (!answer || address.startsWith("each")) continue;
      const command: Command = { ...answer, payload: { approved: true } };
      expect(waits(await engine.send(snapshot, command)).map((wait) => wait.address)).not.toContain(address);
    }
  });

  it("is empty where an execution has ended, or just runs", async () => {
    const { engine, snapshot } = await paused();
    expect(waits(await engine.send(snapshot, { type: "cancel" }))).toEqual([]);
    expect(waits({ activePaths: [{ nodeId: "n", status: "ready" }] } as never)).toEqual([]);
  });
});

describe("addresses", () => {
  it("names every place as the engine does, those of a child's child and of one that belongs to nothing too", () => {
    const path = (nodeId: string, key?: string): object => ({ id: "0", nodeId, ...(key && { children: { key } }) });
    const snapshot = {
      activePaths: [path("each", "0#1")],
      childStates: {
        "0#1/3": { activePaths: [path("sub", "0#4")] },
        "0#1/3>0#4": { activePaths: [path("approve")] },
        "7#7/1": { activePaths: [path("lost")] },
      },
    } as never;
    const address = addresses(snapshot);
    expect(address("", "each")).toBe("each");
    expect(address("0#1/3>0#4", "approve")).toBe("each[3]/sub/approve");
    expect(address("7#7/1", "lost")).toBe("?[1]/lost");
    for (const scope of ["", "0#1/3", "0#1/3>0#4", "7#7/1"]) expect(address(scope, "n")).toBe(addressOf(snapshot, scope, "n"));
  });
});
