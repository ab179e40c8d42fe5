import { describe, expect, it } from "vitest";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import type { Commit, SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import type { Run } from "../../../src/runtime/handle/run.ts";
import { benches, edges, ended, type OpenStore, until } from "../identity/identity.fixture.ts";

/** A message of 1 KB. The first one and the fourth are short, so that stores which encode only long values have some of each kind. */
const messageOf = (turn: number): object => ({ turn, text: "x".repeat(turn % 400 === 0 || turn === 3 ? 1 : 1_000) });

/** A conversation: each turn says one message of 1 KB. It can be told to fail at one turn, to wait, and to begin its next run. */
const conversation = {
  id: "conversation",
  start: "turn",
  variables: { messages: { initial: [], reducer: "append" }, turns: { initial: 0, reducer: "add" } },
  nodes: [
    { id: "turn", type: "say", data: { turn: "{{ vars.turns }}" }, keep: 1 },
    { id: "more", type: "if", data: { condition: "{{ vars.turns < input.turns }}" }, keep: 1 },
    { id: "ask", type: "signal", data: { name: "go" } },
    { id: "again", type: "if", data: { condition: "{{ nodes.ask.last.data.again ?? false }}" } },
    { id: "next", type: "end", data: { continueAs: { input: { turns: "{{ vars.turns + 3 }}" } } } },
  ],
  edges: edges("turn>more", "more>turn@true", "more>ask@false", "ask>again", "again>next@true"),
};

const failing = new Set<number>();
const say = defineNode({
  executor(data: { readonly turn: number }) {
    if (failing.has(data.turn)) throw new Error("the model is away");
    return { data: null, vars: { messages: messageOf(data.turn), turns: 1 } };
  },
});

/** The messages that an execution holds, by their turns. */
const turnsOf = ({ variables = {} }: { readonly variables?: Readonly<Record<string, readonly { readonly value: unknown }[]>> }): number[] =>
  (variables.messages!.at(-1)!.value as { readonly turn: number }[]).map(({ turn }) => turn);
const upTo = (count: number): number[] => Array.from({ length: count }, (_, turn) => turn);

/** Shows that a variable with the reducer `append` costs one item for each item. */
export function appendedItems(name: string, openStore: OpenStore): void {
  describe(`lists that grow, on ${name}`, { timeout: 120_000 }, () => {
    const bench = benches(openStore);
    const talking = async (turns: number, count?: (commit: Commit) => void) => {
      const inner = await bench([conversation], {
        ...{ drive: false, nodeDefinitions: { ...builtinNodes, say }, checkpointBytes: 20_000 },
        // a load decodes many values, and must not be given up on a busy machine
        leaseMs: 60_000,
      });
      const counted: SnapshotStore = {
        ...inner.store,
        commit(commit) {
          count?.(commit);
          return inner.store.commit(commit);
        },
      };
      const runtime = inner.elsewhere({ drive: true, store: counted });
      const run: Run = await runtime.start("conversation", { workflowId: "a", input: { turns } });
      return { ...inner, run, runtime };
    };
    const waits = (run: Run) => until(run, ({ status, currentNodeId }) => status === "paused" && currentNodeId === "ask");

    it("leave 400 messages of 1 KB in less than 1 MB: head, history, and the last checkpoint", async () => {
      let checkpointBytes = 0;
      const { run, store } = await talking(400, ({ checkpoint }) => {
        if (checkpoint) checkpointBytes = JSON.stringify(checkpoint).length;
      });
      const snapshot = await waits(run);
      expect(turnsOf(snapshot)).toEqual(upTo(400));
      const rows = await store.events("a", -1, 10_000);
      const historyBytes = rows.reduce((bytes, { event }) => bytes + JSON.stringify(event).length, 0);
      const headBytes = JSON.stringify(await store.loadHead("a")).length;
      expect(historyBytes + checkpointBytes + headBytes).toBeLessThan(1_000_000);
      expect(snapshot.sizeBytes).toBeLessThan(450_000);
    });

    it("are read, forked, restarted, carried on and trimmed as whole lists", async () => {
      const { run, store } = await talking(30);
      const { version } = await waits(run);
      const fork = await run.fork({ workflowId: "fork", version: Math.floor(version / 2) });
      expect(turnsOf(await waits(fork))).toEqual(upTo(30));
      failing.add(31);
      await run.signal("go", { again: true });
      const failed = await until(run, ended);
      expect([failed.status, turnsOf(failed)]).toEqual(["failed", upTo(31)]);
      failing.delete(31);
      await run.restart();
      expect(turnsOf(await waits(run))).toEqual(upTo(33));
      await store.trim({ before: (await store.now()) + 1 });
      expect(turnsOf((await store.load("a"))!)).toEqual(upTo(33));
      await run.signal("go", {});
      expect(turnsOf(await until(run, ended))).toEqual(upTo(33));
    });

    it("have in every event of the second item and later ones that item alone", async () => {
      const { run, store } = await talking(5);
      await waits(run);
      const said = (await store.events("a", -1, 1_000)).flatMap(({ event }) =>
        event.type === "completed" && event.nodeId === "turn" ? [event] : [],
      );
      const lengthOf = (items: unknown): number | undefined => (items as readonly unknown[] | undefined)?.length;
      expect(said.map(({ variables, appended = {} }) => [lengthOf(variables!.messages), lengthOf(appended.messages)])).toEqual([
        [1, undefined],
        ...Array.from({ length: 4 }, () => [undefined, 1]),
      ]);
    });
  });
}
