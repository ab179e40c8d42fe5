import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase, StoreBench } from "../../contract-case.ts";
import { equal, holds } from "../../expectations.ts";
import { leaseMs } from "./claiming.ts";

/** What holds if many callers do the same at the same time, through one handle or several. */
export const raceCases: readonly ContractCase[] = [
  ...writerRaces({ handles: "one handle", needs: {}, over: async ({ store }) => [store] }),
  ...holderRaces({ handles: "one handle", needs: {}, over: async ({ store }) => [store] }),
  ...writerRaces({ handles: "several handles", needs: { needs: "multiProcess" }, over: several }),
  ...holderRaces({ handles: "several handles", needs: { needs: "multiProcess" }, over: several }),
];

interface Racing {
  readonly handles: string;
  readonly needs: Pick<ContractCase, "needs">;
  over(bench: StoreBench): Promise<SnapshotStore[]>;
}

/** The cases in which many callers write one execution. */
function writerRaces({ handles, needs, over }: Racing): ContractCase[] {
  return [
    {
      name: `race: of 20 writers on one version exactly one wins (${handles})`,
      ...needs,
      async run(bench) {
        const stores = await over(bench);
        const first = startCommit("a");
        await bench.store.create(first);
        const settled = await all(stores, 20, (store, index) => store.commit(stepCommit(first, { output: index })));
        const winner = onlyOne(settled);
        equal(
          (await bench.store.load("a"))?.context.step?.map(({ output }) => output),
          [winner],
          "outputs",
        );
        await closeOthers(stores, bench);
      },
    },
    {
      name: `race: of 100 creators of one id exactly one wins (${handles})`,
      ...needs,
      async run(bench) {
        const stores = await over(bench);
        const settled = await all(stores, 100, (store, index) => store.create(startCommit("a", { input: index })));
        equal((await bench.store.load("a"))?.input, onlyOne(settled), "input");
        equal((await bench.store.events("a", -1, 10)).length, 1, "events");
        await closeOthers(stores, bench);
      },
    },
  ];
}

/** The cases in which many callers want to run or end the same executions. */
function holderRaces({ handles, needs, over }: Racing): ContractCase[] {
  return [
    {
      name: `race: writers that load and try again all get in, none twice (${handles})`,
      ...needs,
      async run(bench) {
        const stores = await over(bench);
        await bench.store.create(startCommit("a"));
        await all(stores, 8, (store, index) => insist(store, index));
        const outputs = (await bench.store.load("a"))?.context.step?.map(({ output }) => output as number) ?? [];
        equal(
          outputs.sort((a, b) => a - b),
          [0, 1, 2, 3, 4, 5, 6, 7],
          "outputs",
        );
        await closeOthers(stores, bench);
      },
    },
    {
      name: `race: racing claims hand out every execution once (${handles})`,
      ...needs,
      async run(bench) {
        const stores = await over(bench);
        await Promise.all(Array.from({ length: 30 }, (_, index) => bench.store.create(startCommit(`id-${index}`))));
        const taken: string[] = [];
        await all(stores, 12, async (store, index) => {
          const claimed = await store.claim({ owner: `worker-${index}`, leaseMs: 60 * leaseMs, limit: 3 });
          taken.push(...claimed.map(({ workflowId }) => workflowId));
        });
        equal(new Set(taken).size, taken.length, "number handed out");
        equal(taken.length, 30, "number of executions");
        await closeOthers(stores, bench);
      },
    },
    {
      name: `race: cancel and completion exclude each other (${handles})`,
      ...needs,
      async run(bench) {
        const stores = await over(bench);
        for (let round = 0; round < 5; round++) {
          const first = startCommit(`id-${round}`);
          await bench.store.create(first);
          const ends = ["cancelled", "completed"] as const;
          const winner = onlyOne(await all(stores, 2, (store, index) => store.commit(stepCommit(first, { status: ends[index]! }))));
          equal((await bench.store.load(`id-${round}`))?.status, ends[winner], "status");
        }
        await closeOthers(stores, bench);
      },
    },
  ];
}

async function several({ store, open }: StoreBench): Promise<SnapshotStore[]> {
  return [store, await open(), await open()];
}

async function closeOthers(stores: readonly SnapshotStore[], { store }: StoreBench): Promise<void> {
  for (const other of stores) if (other !== store) await other.close();
}

function all<T>(
  stores: readonly SnapshotStore[],
  count: number,
  work: (store: SnapshotStore, index: number) => Promise<T>,
): Promise<PromiseSettledResult<T>[]> {
  return Promise.allSettled(Array.from({ length: count }, (_, index) => work(stores[index % stores.length]!, index)));
}

function onlyOne(settled: readonly PromiseSettledResult<unknown>[]): number {
  equal(settled.filter(({ status }) => status === "fulfilled").length, 1, "number of winners");
  return settled.findIndex(({ status }) => status === "fulfilled");
}

/** Loads and commits again until the commit is accepted. */
async function insist(store: SnapshotStore, output: number): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const snapshot = await store.load("a");
    const done = await store.commit(stepCommit(snapshot!, { output })).then(
      () => true,
      () => false,
    );
    if (done) return;
  }
  holds(false, "no attempt of 200 was accepted");
}
