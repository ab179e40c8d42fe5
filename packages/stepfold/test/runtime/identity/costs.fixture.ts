import { afterAll, describe, expect, it } from "vitest";
import type { WorkflowDefinition } from "../../../src/core/definition/definition.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import type { Commit, SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { createRuntime } from "../../../src/runtime/create-runtime.ts";
import { altered } from "../../../src/testing/broken/broken-store.ts";
import { edges } from "./identity.fixture.ts";

/** The number of rows and bytes that a statement of a database has returned. */
interface Answered {
  readonly rows: number;
  readonly bytes: number;
}

/** An empty store, with what its statements have returned. */
export interface CountedStore {
  readonly store: SnapshotStore;
  /** The rows that each statement has returned, in order. */
  readonly answers: readonly { readonly rows: readonly unknown[] }[];
}

/** JSON in which all numbers, also within texts, are equal. */
function withoutNumbers(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) => (typeof one === "bigint" ? Number(one) : one)).replace(/\d+/g, "0");
}

/** Goes on with its next run after each signal. */
const subscription = {
  id: "subscription",
  variables: { total: { initial: 0, reducer: "add" } },
  nodes: [
    { id: "month", type: "signal", data: { name: "month" } },
    { id: "count", type: "set", data: "counted" },
    { id: "again", type: "end", data: { continueAs: { input: { n: "{{ input.n + 1 }}" } } } },
  ],
  edges: edges("month>count", "count>again"),
} as unknown as WorkflowDefinition;

const manyRuns = 400;

/** What one run costs. */
interface Costs {
  readonly signal: readonly Answered[];
  readonly load: readonly Answered[];
  /** The event `continued` and the checkpoint of its commit. */
  readonly event: string;
  readonly checkpoint: string;
}

/** Shows that an execution costs after many runs what it costs after the first one. */
export function costsOfRuns(name: string, open: () => Promise<CountedStore>): void {
  describe(`${name}: after ${manyRuns} runs`, () => {
    const opened: { close(): Promise<unknown> }[] = [];
    afterAll(async () => {
      for (const one of opened.reverse()) await one.close();
    });

    async function measure(): Promise<{ readonly first: Costs; readonly last: Costs }> {
      const { store, answers } = await open();
      const commits: Commit[] = [];
      const noted = altered(store, {
        async commit(commit) {
          await store.commit(commit);
          commits.push(commit);
        },
      });
      const runtime = createRuntime({ store: noted, workflows: [subscription], nodeDefinitions: builtinNodes, drive: false });
      opened.push(store, runtime);
      const run = await runtime.start("subscription", { workflowId: "s", input: { n: 0 }, metadata: { customer: "c-7" } });
      // kept signals and keys go on with the execution
      for (const key of ["a", "b", "c"]) await run.signal("note", "x".repeat(1_500), { idempotencyKey: key });
      await runtime.advance("s");
      const during = async (work: () => Promise<unknown>): Promise<readonly Answered[]> => {
        const from = answers.length;
        await work();
        return answers.slice(from).map(({ rows }) => ({ rows: rows.length, bytes: withoutNumbers(rows).length }));
      };
      const costs: Costs[] = [];
      for (let number = 2; number <= manyRuns; number++) {
        const signal = await during(() => run.signal("month", {}));
        commits.length = 0;
        await runtime.advance("s");
        const load = await during(() => store.load("s"));
        const begins = commits.find(({ events }) => events.some(({ type }) => type === "continued"))!;
        expect(begins.head.run).toMatchObject({ number, since: begins.events.at(-1)!.version });
        costs.push({ signal, load, event: withoutNumbers(begins.events.at(-1)), checkpoint: withoutNumbers(begins.checkpoint) });
      }
      const { run: present, inbox, answered: keys } = await run.snapshot();
      expect([present?.number, inbox?.length, keys?.length]).toEqual([manyRuns, 3, 3]);
      // the signal that ends a run comes before the others: that of the second run is the first one after a run
      return { first: { ...costs[0]!, signal: costs[1]!.signal }, last: costs.at(-1)! };
    }

    it("a signal and a load read as much as after the first run, and the next run is written in as many bytes", {
      timeout: 60_000,
    }, async () => {
      const { first, last } = await measure();
      expect(first.signal.length).toBeGreaterThan(0);
      expect(last.signal).toEqual(first.signal);
      expect(first.load.length).toBeGreaterThan(0);
      expect(last.load).toEqual(first.load);
      expect(last.event).toBe(first.event);
      expect(last.checkpoint).toBe(first.checkpoint);
    });
  });
}
