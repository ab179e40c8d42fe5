import { describe, expect, it, onTestFinished } from "vitest";
import { builtinNodes } from "../../../src/nodes/index.ts";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { memoryQueue } from "../../../src/queues/memory/index.ts";
import { createRuntime } from "../../../src/runtime/create-runtime.ts";
import type { Runtime } from "../../../src/runtime/runtime.ts";
import { wait } from "../../testing/store-contract.fixture.ts";

/** A transaction that the program has begun. */
export interface OwnTransaction {
  /** A store over the connection of the transaction. */
  readonly store: SnapshotStore;
  /** Inserts a row into the program's own table. */
  insert(note: string): Promise<void>;
  end(how: "COMMIT" | "ROLLBACK"): Promise<void>;
}

/** A database with the tables of a store and a table of the program. */
export interface OwnTransactionBench {
  /** The store as other processes open it, with connections of its own. */
  readonly store: SnapshotStore;
  begin(): Promise<OwnTransaction>;
  /** The rows of the program's table that are committed. */
  notes(): Promise<readonly string[]>;
}

const order = {
  id: "order",
  nodes: [
    { id: "pay", type: "signal", data: { name: "paid" } },
    { id: "ship", type: "set", data: "{{ input.item }} ships" },
  ],
  edges: [{ source: "pay", target: "ship" }],
};
const note = { id: "note", nodes: [{ id: "write", type: "set", data: "{{ input }}" }], edges: [] };
const workflows = [order, note];

/** A runtime that drives what is due, as another process has it. */
export function worker({ store }: { readonly store: SnapshotStore }, more: object = {}): Runtime {
  const runtime = createRuntime({ store, workflows, nodeDefinitions: builtinNodes, pollMs: 50, onProblem: () => undefined, ...more });
  onTestFinished(() => runtime.close());
  return runtime;
}

/** A runtime for one transaction: it drives nothing. */
export function within({ store }: { readonly store: SnapshotStore }, more: object = {}): Runtime {
  return createRuntime({ store, workflows, drive: false, ...more });
}

/** What holds for calls of a runtime in a transaction of the program, on every database. */
export function ownTransactionCases(database: string, isThere: boolean, open: () => Promise<OwnTransactionBench>): void {
  describe.skipIf(!isThere)(`in a transaction of the program on ${database}`, () => {
    it("a start and a row of the program are there together, and not before", async () => {
      const bench = await open();
      const own = await bench.begin();
      await own.insert("o-1");
      const runtime = within(own);
      expect((await runtime.start("note", { workflowId: "o-1", input: "written" })).isNew).toBe(true);
      await runtime.close();
      expect([await bench.store.load("o-1"), await bench.notes()]).toEqual([null, []]);
      await own.end("COMMIT");
      expect(await bench.notes()).toEqual(["o-1"]);
      expect(await (await worker(bench).get("o-1")).result()).toBe("written");
    });

    it("a start is gone with the row, and its id is free", async () => {
      const bench = await open();
      for (const [end, input] of [
        ["ROLLBACK", "first"],
        ["COMMIT", "second"],
      ] as const) {
        const own = await bench.begin();
        await own.insert(input);
        await within(own).start("note", { workflowId: "o-1", input });
        await own.end(end);
      }
      expect(await bench.notes()).toEqual(["second"]);
      expect(await (await worker(bench).get("o-1")).result()).toBe("second");
    });

    it("a signal counts with the row, or neither does", async () => {
      const bench = await open();
      const run = await worker(bench).start("order", { workflowId: "o-1", input: { item: "chair" } });
      const { version } = await run.waitFor("paused");
      for (const end of ["ROLLBACK", "COMMIT"] as const) {
        const own = await bench.begin();
        await own.insert(end);
        await (await within(own).get("o-1")).signal("paid", null, { idempotencyKey: "payment-7" });
        expect((await bench.store.loadHead("o-1"))?.version).toBe(version);
        await own.end(end);
      }
      expect(await run.result()).toBe("chair ships");
      expect(await bench.notes()).toEqual(["COMMIT"]);
    });

    it("what is refused leaves the transaction as it was", async () => {
      const bench = await open();
      await within(bench).start("order", { workflowId: "o-1", input: { item: "chair" } });
      const own = await bench.begin();
      const runtime = within(own);
      await expect(runtime.start("order", { workflowId: "o-1", input: { item: "table" } })).rejects.toMatchObject({
        code: "START_CONFLICT",
      });
      await expect(runtime.start("order", { workflowId: "o-1", input: { item: "chair" } })).resolves.toMatchObject({ isNew: false });
      await own.insert("kept");
      await Promise.all(["a", "b", "c"].map((workflowId) => runtime.start("note", { workflowId, input: workflowId })));
      await own.end("COMMIT");
      expect(await bench.notes()).toEqual(["kept"]);
      const results = ["a", "b", "c"].map(async (id) => (await worker(bench).get(id)).result());
      expect(await Promise.all(results)).toEqual(["a", "b", "c"]);
    });

    it("the same start after the commit wakes the execution up, without a poll", async () => {
      const bench = await open();
      const takes = worker(bench, { pollMs: 600_000 });
      const own = await bench.begin();
      await within(own).start("note", { workflowId: "o-1", input: "woken" });
      await own.end("COMMIT");
      const run = await takes.start("note", { workflowId: "o-1", input: "woken" });
      expect([run.isNew, await run.result({ timeoutMs: 10_000 })]).toEqual([false, "woken"]);
    });

    it("a message that comes before the commit does not lose the execution", async () => {
      const bench = await open();
      const queue = memoryQueue();
      const takes = worker(bench, { queue, pollMs: 200 });
      const own = await bench.begin();
      const runtime = within(own, { queue });
      await runtime.start("note", { workflowId: "o-1", input: "found" });
      await runtime.close();
      // the worker gets the message meanwhile, and finds nothing
      await wait(300);
      await own.end("COMMIT");
      expect(await (await takes.get("o-1")).result({ timeoutMs: 10_000 })).toBe("found");
      await queue.close();
    });
  });
}
