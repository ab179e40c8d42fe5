import { describe, expect, it } from "vitest";
import type { NodeDefinitions } from "../../src/engine/node/node-definition.ts";
import { createGuest, type Guest, type GuestOptions } from "../../src/guest/create-guest.ts";
import type { GuestHost, GuestStep } from "../../src/guest/host.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import type { VirtualEnvironment } from "../../src/testing/virtual-environment.ts";
import { type Effects, flowNodes } from "./guest-flows.fixture.ts";
import { JournalHost } from "./journal-host.fixture.ts";

const edge = (source: string, target: string, sourceHandle?: string): object => ({ source, target, ...(sourceHandle && { sourceHandle }) });
const work = (id: string, data: object = {}): object => ({ id, type: "work", data });

/** Guests that share their effects. Each life of a host gets the next of `versions`; after the last version, the last one again. */
function lives(versions: readonly Partial<GuestOptions>[]): {
  readonly effects: Effects;
  readonly guestOf: (clock: VirtualEnvironment) => Guest;
} {
  const effects: Effects = new Map();
  let life = 0;
  return {
    effects,
    guestOf: (environment) => {
      const options = versions[Math.min(life++, versions.length - 1)]!;
      return createGuest({ workflows: [], nodeDefinitions: flowNodes(effects, environment), environment, ...options } as GuestOptions);
    },
  };
}

const order = { id: "order", nodes: [work("charge", { value: 1 }), work("ship", { value: 2 })], edges: [edge("charge", "ship")] };
const start = { workflow: "order", workflowId: "run-1" };

describe("a guest whose host replays with other code", () => {
  it("is refused, if the definition is another one, before anything is done", async () => {
    const changed = { ...order, nodes: [work("charge", { value: 1 }), work("ship", { value: 3 })] };
    const { effects, guestOf } = lives([{ workflows: [order] }, { workflows: [changed] }]);
    const host = new JournalHost([], { killsAt: new Set([6]) });
    await expect(host.run(guestOf, start)).rejects.toMatchObject({
      code: "DEFINITION_CHANGED",
      details: { workflowId: "run-1", inJournal: true },
      message: expect.stringContaining("Keep that version deployed until the execution has ended"),
    });
    expect([...effects.keys()]).toEqual(["charge run-1/0#1 1"]);
  });

  it("goes on where it stood once the right code is back", async () => {
    const changed = { ...order, nodes: [work("charge"), work("ship", { value: 3 })] };
    const { effects, guestOf } = lives([{ workflows: [order] }, { workflows: [changed] }, { workflows: [order] }]);
    const host = new JournalHost([], { killsAt: new Set([6]) });
    await expect(host.run(guestOf, start)).rejects.toMatchObject({ code: "DEFINITION_CHANGED" });
    expect(await host.run(guestOf, start)).toMatchObject({ status: "completed", output: 2 });
    expect(Math.max(...effects.values())).toBe(1);
  });

  it("is refused, if the definition is missing", async () => {
    const { guestOf } = lives([{ workflows: [order] }, { workflows: [{ ...order, id: "other" }] }]);
    const host = new JournalHost([], { killsAt: new Set([6]) });
    await expect(host.run(guestOf, start)).rejects.toMatchObject({ code: "DEFINITION_UNKNOWN" });
  });

  it("is told the same limits and goes by the same batches, although the options have changed", async () => {
    const fan = {
      id: "order",
      nodes: [
        work("a"),
        work("b", { value: 1 }),
        work("c", { value: 2 }),
        work("d", { value: "{{ nodes.b.last.data + nodes.c.last.data }}" }),
      ],
      edges: [edge("a", "b"), edge("a", "c"), edge("b", "d"), edge("c", "d")],
    };
    const workflow = { ...fan, nodes: fan.nodes.map((node, i) => (i === 3 ? { ...node, join: "all" } : node)) };
    const { guestOf } = lives([
      { workflows: [workflow], concurrency: 1, limits: { steps: 10 } },
      { workflows: [workflow], concurrency: 16, limits: { steps: 1 } },
    ]);
    const host = new JournalHost([], { killsAt: new Set([10]) });
    expect(await host.run(guestOf, start)).toMatchObject({ status: "completed", output: 3 });
    expect([...host.journal.keys()]).toEqual(["0 start", "1 a", "2 b", "3 c", "4 d"]);
  });

  it("performs no step of another definition than its own", async () => {
    let asked: GuestStep | undefined;
    const guest = createGuest({ workflows: [order], nodeDefinitions: flowNodes(new Map(), { after: () => () => undefined }) });
    const host: GuestHost = {
      perform: async (steps) => {
        asked = steps[0];
        return steps[0]!.type === "start" ? [await guest.perform(steps[0]!)] : Promise.reject(new Error("gone"));
      },
      wait: async () => null,
    };
    await expect(guest.run(host, start)).rejects.toThrow("gone");
    const effects: Effects = new Map();
    const other = createGuest({
      workflows: [{ ...order, edges: [], start: "charge" }],
      nodeDefinitions: flowNodes(effects, { after: () => () => undefined }),
    });
    await expect(other.perform(asked!)).rejects.toMatchObject({ code: "DEFINITION_CHANGED" });
    expect(effects.size).toBe(0);
  });
});

describe("what a guest is told", () => {
  const asks = { id: "ask", type: "approval", data: { message: "ok?", timeout: "1s" } };

  it("counts if it was given in time, although a slow step held up its taking", async () => {
    const workflow = {
      id: "order",
      nodes: [work("fork"), work("slow", { takesMs: 5_000 }), asks, work("yes", { value: "yes" }), work("late", { value: "late" })],
      edges: [edge("fork", "slow"), edge("fork", "ask"), edge("ask", "yes", "approved"), edge("ask", "late", "timeout")],
    };
    const run = async (atMs: number): Promise<unknown> => {
      const host = new JournalHost([{ atMs, command: { type: "resume", payload: { approved: true } } }]);
      return (await host.run(lives([{ workflows: [workflow] }]).guestOf, start)).output;
    };
    expect(await run(500)).toBe("yes");
    expect(await run(1_500)).toBe("late");
  });

  it("is refused, and told to whoever asked for that, if it does not fit", async () => {
    const workflow = { id: "order", nodes: [{ id: "ask", type: "approval", data: { message: "ok?" } }], edges: [] };
    const refused: unknown[] = [];
    const { guestOf } = lives([
      { workflows: [workflow], onRefused: ({ id }, error, workflowId) => refused.push([id, (error as { code: string }).code, workflowId]) },
    ]);
    const resume = (payload: unknown): { readonly type: "resume"; readonly payload: unknown } => ({ type: "resume", payload });
    const host = new JournalHost([
      { atMs: 1, command: resume(7) },
      { atMs: 2, command: { type: "dance" } as never },
      { atMs: 3, command: resume({ approved: true }) },
    ]);
    expect(await host.run(guestOf, start)).toMatchObject({ status: "completed" });
    expect(refused).toEqual([
      ["message-0", "RESUME_INVALID", "run-1"],
      ["message-1", "OPTION_INVALID", "run-1"],
    ]);
  });
});

describe("what a guest cannot do", () => {
  it("begins no execution of its own: such a step fails, and its edge error takes it", async () => {
    const workflow = {
      id: "order",
      nodes: [
        { id: "away", type: "workflow", data: { workflow: "order", detached: true } },
        work("else", { value: "{{ nodes.away.last.error }}" }),
      ],
      edges: [edge("away", "else", "error")],
    };
    const host = new JournalHost();
    expect(await host.run(lives([{ workflows: [workflow] }]).guestOf, start)).toMatchObject({
      status: "completed",
      output: expect.stringContaining("the function `may` of the host does not allow it"),
    });
  });

  it("does not begin with an input that does not fit, or without a definition: that is an end, and nothing to repeat", async () => {
    const workflow = { ...order, input: { type: "number" } };
    const { guestOf } = lives([{ workflows: [workflow] }]);
    expect(await new JournalHost().run(guestOf, { ...start, input: "x" })).toMatchObject({
      status: "failed",
      error: { code: "INPUT_INVALID" },
    });
    expect(await new JournalHost().run(guestOf, { ...start, workflow: "x" })).toMatchObject({
      status: "failed",
      error: { code: "DEFINITION_UNKNOWN" },
    });
  });

  it("does not begin without an id, or with something that is no start", async () => {
    const { guestOf } = lives([{ workflows: [order] }]);
    for (const strange of [{ workflow: "order" }, { ...start, inputs: 1 }, { ...start, workflowId: " " }])
      expect(await new JournalHost().run(guestOf, strange as never)).toMatchObject({
        status: "failed",
        error: { code: expect.stringMatching(/OPTION_/) },
      });
    const guest = createGuest({ workflows: [order], nodeDefinitions: flowNodes(new Map(), { after: () => () => undefined }) });
    for (const strange of [undefined, null, {}, { type: "dance" }])
      await expect(guest.perform(strange as never)).rejects.toMatchObject({ code: "OPTION_INVALID", details: { option: "step" } });
    for (const strange of [undefined, null, "order-7"])
      expect(await guest.perform({ name: "0 start", type: "start", start: strange as never })).toMatchObject({ type: "refused" });
  });

  it("has no limit where none is set: what is infinite outlives JSON", async () => {
    const { guestOf } = lives([{ workflows: [order], concurrency: Number.POSITIVE_INFINITY, limits: { steps: Number.POSITIVE_INFINITY } }]);
    expect(await new JournalHost().run(guestOf, start)).toMatchObject({ status: "completed", output: 2 });
  });

  it("trusts no host that gives something else than it was given", async () => {
    const guest = createGuest({ workflows: [order], nodeDefinitions: flowNodes(new Map(), { after: () => () => undefined }) });
    const hostOf = (perform: unknown): GuestHost => ({ perform: perform as GuestHost["perform"], wait: async () => null });
    for (const given of [undefined, [], [null], [{}], [{ type: "performed" }]])
      await expect(
        guest.run(
          hostOf(async () => given),
          start,
        ),
      ).rejects.toMatchObject({ code: "OPTION_INVALID", details: { option: "host.perform" } });
  });

  it("is not made with options that are none", () => {
    const make = (options: object) => () =>
      createGuest({ workflows: [order], nodeDefinitions: builtinNodes as NodeDefinitions, ...options } as GuestOptions);
    expect(make({ workfows: [] })).toThrow(expect.objectContaining({ code: "OPTION_UNKNOWN" }));
    expect(make({ workflows: [] })).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
    expect(make({ concurrency: 0 })).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
    expect(make({})).toThrow(expect.objectContaining({ code: "DEFINITION_INVALID" }));
  });
});
