import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal, holds, present, rejectsWith } from "../../expectations.ts";
import { dueIds, longLeaseMs, shortLeaseMs } from "./claiming.ts";

/** What a store promises when things go wrong: damaged rows, lost connections, values that are too large. */
export const troubleCases: readonly ContractCase[] = [
  {
    name: "trouble: what is damaged is refused when it is loaded, and in nobody's way",
    needs: "damage",
    async run({ store, damage }) {
      const commits = ["a", "b", "c"].map((id) => startCommit(id));
      for (const commit of commits) await store.create(commit);
      await damage!("b");
      await rejectsWith("STORE_REJECTED", () => store.load("b"));
      equal(await store.load("c"), snapshotAfter(commits[2]!), "another one");
      const listed = await store.list();
      const ids = listed.items.map(({ workflowId }) => workflowId).filter((id) => id !== "b");
      equal(ids, ["c", "a"], "listed beside it");
    },
  },
  {
    name: "trouble: what is damaged does not keep others from being claimed, and is not tried again and again",
    needs: "damage",
    async run({ store, damage, advance }) {
      for (const id of ["a", "b", "c"]) await store.create(startCommit(id));
      await damage!("a");
      const whole = async (forMs: number): Promise<string[]> => (await dueIds(store, 100, forMs)).filter((id) => id !== "a" && id !== "d");
      equal(await whole(longLeaseMs), ["b", "c"], "those that are whole");
      equal(await dueIds(store, 100, longLeaseMs), [], "claimed again");
      for (const id of ["d", "e", "f"]) await store.create(startCommit(id));
      await damage!("d");
      equal((await whole(shortLeaseMs)).sort(), ["e", "f"], "others");
      await advance(shortLeaseMs + 1);
      equal((await whole(longLeaseMs)).sort(), ["e", "f"], "after the lease");
    },
  },
  {
    name: "trouble: a page is full although something in it is damaged",
    needs: "damage",
    async run({ store, damage }) {
      for (const id of ["a", "b", "c", "d", "e"]) await store.create(startCommit(id));
      await damage!("d");
      const first = await store.list({ limit: 2 });
      const seen = first.items.map(({ workflowId }) => workflowId);
      for (let cursor = first.nextCursor; cursor !== null; ) {
        const page = await store.list({ limit: 2, cursor });
        seen.push(...page.items.map(({ workflowId }) => workflowId));
        cursor = page.nextCursor;
      }
      equal(
        seen.filter((id) => id !== "d"),
        ["e", "c", "b", "a"],
        "listed",
      );
    },
  },
  {
    name: "trouble: commits that were under way when the connection ended are applied once or not at all",
    needs: "cut",
    async run({ store, open, cut }) {
      const started = Array.from({ length: 20 }, (_, index) => startCommit(`id-${index}`));
      for (const first of started) await store.create(first);
      const commits = started.map((first, index) => stepCommit(first, { output: index }));
      const underWay = Promise.allSettled(commits.map((commit) => store.commit(commit)));
      await cut!();
      for (const settled of await underWay) {
        if (settled.status === "fulfilled") continue;
        holds(StepfoldError.is(settled.reason, "STORE_UNAVAILABLE"), `a commit was rejected with ${String(settled.reason)}`);
      }
      for (const commit of commits) await insist(() => store.commit(commit));
      const other = await open();
      // the servers end a connection some time after they were told to, so what reads may be the one that meets its end
      for (const [index, first] of started.entries()) {
        equal(await insist(() => other.load(first.workflowId)), snapshotAfter(first, commits[index]!), `snapshot ${index}`);
        equal((await insist(() => other.events(first.workflowId, -1, 10))).length, 2, `number of events ${index}`);
      }
      if (other !== store) await other.close();
    },
  },
  {
    name: "trouble: a value that the store cannot hold is refused with its size and place, and nothing changes",
    needs: "maxValueBytes",
    async run({ store }) {
      const max = present(store.features.maxValueBytes, "maxValueBytes");
      const first = startCommit("a");
      await store.create(first);
      const report = { pages: ["x".repeat(max), "y"] };
      const details = await rejectsWith("LIMIT_EXCEEDED", () => store.commit(stepCommit(first, { output: { small: 1, report } })));
      equal(details.max, max, "limit");
      equal(details.pointer, "/output/report/pages/0", "place");
      holds(details.actual > max, `the size is ${details.actual}`);
      equal(await store.load("a"), snapshotAfter(first), "snapshot");
      await rejectsWith("LIMIT_EXCEEDED", () => store.create(startCommit("b", { input: "x".repeat(max + 1) })));
      equal(await store.load("b"), null, "another one");
      const fits = stepCommit(first, { output: "x".repeat(max - 2_000) });
      await store.commit(fits);
      equal(await store.load("a"), snapshotAfter(first, fits), "a value that just fits");
    },
  },
];

/** Calls until there is an answer. */
async function insist<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await call();
    } catch (error) {
      if (tries === 20 || !StepfoldError.is(error, "STORE_UNAVAILABLE")) throw error;
    }
  }
}
