import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import type { WorkerBeat } from "../../../ports/store-workers.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal, holds, rejectsWith } from "../../expectations.ts";

const beat = (owner: string, more: Partial<WorkerBeat> = {}): WorkerBeat => ({
  ...{ owner, since: 1_000, aliveMs: 60_000, slots: 10, types: ["charge"] },
  ...more,
});

/** What a store promises about the processes that run its executions. */
export const workerCases: readonly ContractCase[] = [
  {
    name: "workers: those that have told that they are there, by their names, each as it has told last",
    needs: "lists",
    async run({ store }) {
      equal(await store.workers!(), [], "before the first");
      const names = ["b", "a", "é", "a b", "x".repeat(255), "0", "constructor"];
      for (const name of names) await store.beat!(beat(name));
      await store.beat!(beat("a", { slots: 3, types: [] }));
      const told = await store.workers!();
      equal(
        told.map(({ owner }) => owner),
        [...names].sort((a, b) => (a < b ? -1 : 1)),
        "names",
      );
      const { aliveUntil, ...own } = told.find(({ owner }) => owner === "a")!;
      equal(own, { owner: "a", since: 1_000, slots: 3, types: [] }, "a");
      const leftMs = aliveUntil - (await store.now());
      holds(leftMs > 50_000 && leftMs <= 60_000, `alive for ${leftMs} ms`);
    },
  },
  {
    name: "workers: one is gone when it says so, and when its sign of life has run out",
    needs: "lists",
    async run({ store, advance }) {
      for (const name of ["ends", "stays"]) await store.beat!(beat(name));
      await store.beat!(beat("dies", { aliveMs: 30 }));
      await store.beat!(beat("ends", { aliveMs: 0 }));
      await store.beat!(beat("never there", { aliveMs: 0 }));
      await advance(50);
      equal(await ownersOf(store), ["stays"], "those alive");
      await store.beat!(beat("dies"));
      equal(await ownersOf(store), ["dies", "stays"], "one that is back");
    },
  },
  {
    name: "workers: many that tell at once are all there",
    needs: "lists",
    async run({ store }) {
      const names = Array.from({ length: 20 }, (_, index) => `worker-${index}`);
      await Promise.all(names.map((name) => store.beat!(beat(name))));
      equal(await ownersOf(store), [...names].sort(), "owners");
    },
  },
  {
    name: "workers: a sign of life of another form is refused",
    needs: "lists",
    async run({ store }) {
      const wrong: Readonly<Record<string, readonly unknown[]>> = {
        owner: ["", 7, "x".repeat(256)],
        since: [Number.NaN, "now"],
        aliveMs: [-1, Number.POSITIVE_INFINITY, 10 ** 9],
        slots: [-1, 1.5],
        types: ["charge", [7], [""]],
      };
      for (const [option, values] of Object.entries(wrong)) {
        for (const value of values) {
          const details = await rejectsWith("OPTION_INVALID", () => store.beat!(beat("a", { [option]: value })));
          equal(details.option, option, `${option}: ${String(value)}`);
        }
      }
      equal(await store.workers!(), [], "workers");
    },
  },
];

async function ownersOf(store: SnapshotStore): Promise<string[]> {
  return (await store.workers!()).map(({ owner }) => owner);
}
