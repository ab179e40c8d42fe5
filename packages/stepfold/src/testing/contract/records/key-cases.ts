import type { KeptKey } from "../../../ports/kept-keys.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal } from "../../expectations.ts";

const owner = { workflowId: "a", incarnation: "first" };
const named = (prefix: string, count: number, version = 1): KeptKey[] =>
  Array.from({ length: count }, (_, index) => ({ name: `${prefix}-${index}`, version: version + index }));
const sorted = (keys: readonly KeptKey[]): KeptKey[] => [...keys].sort((one, other) => (one.name < other.name ? -1 : 1));

/** Stores an execution that has ended, and whose head says that it has keys of these days. */
async function endedWithKeys(store: SnapshotStore, workflowId: string, days: readonly number[]): Promise<string> {
  const first = startCommit(workflowId, { definitionId: workflowId });
  const outputs = Array.from({ length: 600 }, () => null);
  await store.create(first);
  await store.commit(stepCommit(first, { outputs, status: "completed", head: { keyRows: { days, before: 600 } } }));
  return first.incarnation;
}

/** What a store promises about the older idempotency keys of executions. */
export const keyCases: readonly ContractCase[] = [
  {
    name: "keys: each is found with its version, in the days in which it was put, and no other one is",
    needs: "keys",
    async run({ store }) {
      const keys = store.keptKeys!;
      equal(await keys.find(owner, [20_000], "k-0"), null, "before the first");
      await keys.put(owner, 20_000, named("k", 300));
      await keys.put(owner, 20_001, named("l", 3, 400));
      for (const name of ["k-0", "k-7", "k-299"]) equal(await keys.find(owner, [20_000, 20_001], name), Number(name.slice(2)) + 1, name);
      equal(await keys.find(owner, [20_000, 20_001], "l-2"), 402, "l-2");
      equal(await keys.find(owner, [20_001], "k-0"), null, "k-0 on another day");
      for (const name of ["k-300", "K-0", "k-0 ", "", "constructor", "__proto__"])
        equal(await keys.find(owner, [20_000, 20_001], name), null, name);
      equal(await keys.find(owner, [], "k-0"), null, "in no days");
    },
  },
  {
    name: "keys: those of another execution, or of another incarnation, are other keys",
    needs: "keys",
    async run({ store }) {
      const keys = store.keptKeys!;
      await keys.put(owner, 20_000, named("k", 3));
      for (const others of [
        { ...owner, workflowId: "b" },
        { ...owner, workflowId: "A" },
        { ...owner, incarnation: "second" },
      ]) {
        equal(await keys.find(others, [20_000], "k-0"), null, "k-0");
        equal(await keys.all(others, 20_000), [], "all");
        await keys.drop(others, [20_000]);
      }
      equal(await keys.find(owner, [20_000], "k-0"), 1, "k-0 of the first");
    },
  },
  {
    name: "keys: the same name again has the later version; all of a day can be read",
    needs: "keys",
    async run({ store }) {
      const keys = store.keptKeys!;
      await keys.put(owner, 20_000, named("k", 200));
      await keys.put(owner, 20_000, [{ name: "k-1", version: 900 }, ...named("m", 2, 901)]);
      await keys.put(owner, 20_001, [{ name: "k-2", version: 950 }]);
      equal(await keys.find(owner, [20_000], "k-1"), 900, "k-1");
      equal(await keys.find(owner, [20_000, 20_001], "k-2"), 950, "k-2, of two days");
      const expected = named("k", 200).map((key) => (key.name === "k-1" ? { ...key, version: 900 } : key));
      equal(sorted(await keys.all(owner, 20_000)), sorted([...expected, ...named("m", 2, 901)]), "all");
      equal(await keys.all(owner, 20_002), [], "all of another day");
    },
  },
  {
    name: "keys: what many put at once is there",
    needs: "keys",
    async run({ store }) {
      const keys = store.keptKeys!;
      const batches = Array.from({ length: 8 }, (_, index) => named(`at once ${index}`, 40));
      await Promise.all(batches.map((batch) => keys.put(owner, 20_000, batch)));
      equal(sorted(await keys.all(owner, 20_000)), sorted(batches.flat()), "all");
    },
  },
  {
    name: "keys: days are dropped whole, and no others",
    needs: "keys",
    async run({ store }) {
      const keys = store.keptKeys!;
      for (const day of [20_000, 20_001, 20_002]) await keys.put(owner, day, named("k", 100, day));
      await keys.drop(owner, [20_000, 20_001, 19_999]);
      equal(await keys.all(owner, 20_000), [], "20,000");
      equal(await keys.all(owner, 20_001), [], "20,001");
      equal(await keys.find(owner, [20_000, 20_001, 20_002], "k-5"), 20_007, "k-5");
      await keys.put(owner, 20_000, named("again", 1));
      equal(await keys.all(owner, 20_000), named("again", 1), "20,000 again");
    },
  },
  {
    name: "keys: they are deleted with their execution, by delete and by prune",
    needs: "keys",
    async run({ store, advance }) {
      const keys = store.keptKeys!;
      const owners = [];
      for (const workflowId of ["deleted", "pruned", "stays"])
        owners.push({ workflowId, incarnation: await endedWithKeys(store, workflowId, [20_000, 20_001]) });
      for (const one of owners) for (const day of [20_000, 20_001]) await keys.put(one, day, named("k", 100));
      const [deleted, pruned, stays] = owners;
      await store.delete(deleted!.workflowId);
      await advance(10);
      await store.prune({ before: (await store.now()) + 1, definitionId: "pruned" });
      for (const day of [20_000, 20_001]) {
        equal(await keys.all(deleted!, day), [], `of the deleted one, ${day}`);
        equal(await keys.all(pruned!, day), [], `of the pruned one, ${day}`);
        equal((await keys.all(stays!, day)).length, 100, `of the other one, ${day}`);
      }
    },
  },
];
