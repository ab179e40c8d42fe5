import { historyCheckpoint } from "../../../core/snapshot/history-checkpoint.ts";
import type { Commit, SnapshotStore } from "../../../ports/snapshot-store.ts";
import type { TrimOptions } from "../../../ports/store-removal.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal, holds, present, rejectsWith } from "../../expectations.ts";
import { put } from "../children/children.ts";
import { nextRun, reopening, writtenRuns } from "./runs.ts";

const always = Number.MAX_SAFE_INTEGER;

/** What `trim` promises: it deletes the events of earlier runs, and nothing else. */
export const trimCases: readonly ContractCase[] = [
  {
    name: "trim: deletes the events between the first one and the present run, once",
    async run({ store }) {
      const commits = await writtenRuns(store, "a", [10, 20], { metadata: { team: "red" } });
      await writtenRuns(store, "b", []);
      const before = { snapshot: await store.load("a"), head: await store.loadHead("a"), listed: (await store.list()).items };
      equal(before.snapshot, snapshotAfter(...commits), "snapshot before");
      equal(await counted(store, { before: always }), { executions: 1, events: 5, trimmed: ["a"], left: [] }, "report");
      const after = { snapshot: await store.load("a"), head: await store.loadHead("a"), listed: (await store.list()).items };
      equal(after, before, "what is stored");
      await isHistory(store, "a", commits, 6);
      equal((await store.events("b", -1, 100)).length, 3, "events of an execution with one run");
      equal(await counted(store, { before: always }), { executions: 0, events: 0, trimmed: [], left: [] }, "second report");
    },
  },
  {
    name: "trim: the execution goes on, and later runs are trimmed again",
    async run({ store }) {
      const commits = await writtenRuns(store, "a", [10, 20]);
      await store.trim({ before: always });
      const add = async (commit: Commit): Promise<void> => {
        commits.push(commit);
        await store.commit(commit);
      };
      await add(stepCommit(commits.at(-1)!, { outputs: ["three", "four"] }));
      equal(await store.load("a"), snapshotAfter(...commits), "snapshot");
      await add(nextRun(commits, { at: 30, outputs: ["last"], input: "third" }));
      await add(stepCommit(commits.at(-1)!, { output: "one", children: [put("0#1")] }));
      await isHistory(store, "a", commits, 6);
      equal(await counted(store, { before: always }), { executions: 1, events: 6, trimmed: ["a"], left: [] }, "report");
      await isHistory(store, "a", commits, 12);
      equal(await store.load("a"), snapshotAfter(...commits), "snapshot after the second trim");
      await add(stepCommit(commits.at(-1)!, { status: "completed" }));
      await store.commit(commits.at(-1)!);
      await store.create(commits[0]!);
      const { executions, events } = await store.prune({ before: always });
      equal([executions, events], [1, 4], "pruned");
      equal(await store.events("a", -1, 10), [], "events of the deleted execution");
    },
  },
  {
    name: "trim: only runs that began before the time, the oldest first, and at most the limit",
    async run({ store }) {
      for (const [id, at] of Object.entries({ a: 30, b: 10, c: 40, d: 20 })) await writtenRuns(store, id, [at]);
      equal((await store.trim({ before: 10 })).executions, 0, "before all");
      equal((await store.trim({ before: 40, limit: 2, dryRun: true })).trimmed.map(idOf), ["b", "d"], "dry run");
      equal((await store.trim({ before: 40, limit: 2 })).trimmed.map(idOf), ["b", "d"], "first");
      equal((await store.trim({ before: 40, limit: 2 })).trimmed.map(idOf), ["a"], "second");
      equal((await store.trim({ before: always })).trimmed.map(idOf), ["c"], "third");
    },
  },
  {
    name: "trim: of one workflow definition, if asked so",
    async run({ store }) {
      for (const id of ["x", "y"]) await writtenRuns(store, id, [10], { definitionId: `workflow-${id}` });
      equal((await store.trim({ before: always, definitionId: "workflow-y" })).trimmed.map(idOf), ["y"], "trimmed");
      equal((await store.events("x", 0, 1)).length, 1, "events of the other one");
      equal((await store.trim({ before: always })).trimmed.map(idOf), ["x"], "trimmed then");
    },
  },
  {
    name: "trim: of one execution, if asked so",
    async run({ store }) {
      for (const [index, id] of ["a", "ab", "b"].entries()) await writtenRuns(store, id, [index]);
      for (const id of ["c", "b", "a", "a"]) await store.trim({ before: id === "b" ? 2 : always, workflowId: id });
      equal((await store.trim({ before: always })).trimmed.map(idOf), ["ab", "b"], "trimmed then");
    },
  },
  {
    name: "trim: a dry run reports the same and deletes nothing",
    async run({ store }) {
      const commits = await writtenRuns(store, "a", [10], { incarnation: "a-1" });
      for (const dryRun of [true, true, false]) {
        const expected = { executions: 1, events: 2, trimmed: [{ workflowId: "a", incarnation: "a-1" }], left: [] };
        if (dryRun) await isHistory(store, "a", commits, 0);
        equal(await store.trim({ before: always, dryRun }), expected, "report");
      }
      await isHistory(store, "a", commits, 3);
    },
  },
  {
    name: "trim: an execution without a checkpoint since its run began is left, until it has one",
    async run({ store }) {
      const commits = await writtenRuns(store, "a", []);
      const add = async (commit: Commit): Promise<void> => {
        commits.push(commit);
        await store.commit(commit);
      };
      await add(nextRun(commits, { at: 10, isCheckpoint: false }));
      await writtenRuns(store, "b", [20]);
      const report = { executions: 1, events: 2, trimmed: ["b"], left: ["a"] };
      equal(await counted(store, { before: always, limit: 1, dryRun: true }), report, "report of a dry run");
      equal(await counted(store, { before: always, limit: 1 }), report, "report");
      await isHistory(store, "a", commits, 0);
      equal(await store.load("a"), snapshotAfter(...commits), "snapshot");
      const step = stepCommit(commits.at(-1)!, { output: "kept" });
      await add({ ...step, checkpoint: historyCheckpoint(snapshotAfter(...commits, step)) });
      equal(await counted(store, { before: always }), { executions: 1, events: 2, trimmed: ["a"], left: [] }, "report then");
      equal(await store.load("a"), snapshotAfter(...commits), "snapshot then");
    },
  },
  {
    name: "trim: an ended execution too, which can be opened again or deleted",
    async run({ store }) {
      const commits = await writtenRuns(store, "a", [10]);
      const add = async (commit: Commit): Promise<void> => {
        commits.push(commit);
        await store.commit(commit);
      };
      await add(stepCommit(commits.at(-1)!, { status: "failed" }));
      equal(await counted(store, { before: always }), { executions: 1, events: 2, trimmed: ["a"], left: [] }, "report");
      equal((await store.list({ status: ["failed"] })).items.length, 1, "listed");
      await add(reopening(commits.at(-1)!));
      await add(stepCommit(commits.at(-1)!, { status: "failed" }));
      equal(await store.load("a"), snapshotAfter(...commits), "snapshot");
      await isHistory(store, "a", commits, 3);
      await store.delete("a");
      equal([await store.load("a"), await store.events("a", -1, 10)], [null, []], "what is left");
      equal((await store.trim({ before: always })).executions, 0, "of a deleted execution");
    },
  },
  {
    name: "trim: events that share a commit with a kept one are gone too",
    async run({ store }) {
      const first = startCommit("a");
      const step = stepCommit(first, { outputs: ["one", "two"] });
      // one commit for the first three versions, one that ends the run and begins the next one
      const start = { ...first, head: step.head, events: [...first.events, ...step.events] };
      const commits = [start, nextRun([start], { at: 10, outputs: ["three"] })];
      await store.create(start);
      await store.commit(commits[1]!);
      equal(await counted(store, { before: always }), { executions: 1, events: 3, trimmed: ["a"], left: [] }, "report");
      await isHistory(store, "a", commits, 4);
      equal(await store.load("a"), snapshotAfter(...commits), "snapshot");
      await store.create(start);
      await store.commit(commits[1]!);
    },
  },
  {
    name: "trim: large events are gone too, and large values of the present run stay",
    async run({ store }) {
      const large = "x".repeat(200_000);
      const commits = [startCommit("a", { input: large })];
      for (const output of [large, `${large}1`]) commits.push(stepCommit(commits.at(-1)!, { output }));
      commits.push(nextRun(commits, { at: 10, input: large }));
      commits.push(stepCommit(commits.at(-1)!, { output: `${large}1` }));
      await store.create(commits[0]!);
      for (const commit of commits.slice(1)) await store.commit(commit);
      equal((await store.trim({ before: always })).events, 2, "events");
      equal(await store.load("a"), snapshotAfter(...commits), "snapshot");
      await isHistory(store, "a", commits, 3);
    },
  },
  {
    name: "trim: a history that is read page by page meanwhile goes on behind the gap",
    async run({ store }) {
      const commits = await writtenRuns(store, "a", [10, 20, 30]);
      const versions: number[] = [];
      for (let after = -1; ; after = versions.at(-1)!) {
        const rows = await store.events("a", after, 2);
        if (rows.length === 0) break;
        versions.push(...rows.map(({ version }) => version));
        await store.trim({ before: always });
      }
      equal(versions, [0, 1, 9, 10, 11], "versions");
      await isHistory(store, "a", commits, 9);
    },
  },
  {
    name: "trim: while an execution goes on and begins runs, no reader ever misses anything",
    async run({ store }) {
      const commits = [startCommit("a")];
      await store.create(commits[0]!);
      let version = 0;
      const read = async (): Promise<void> => {
        const snapshot = present(await store.load("a"), "snapshot");
        const head = present(await store.loadHead("a"), "head");
        holds(snapshot.version >= version && head.version >= snapshot.version, "versions rise");
        version = snapshot.version;
      };
      for (let run = 2; run < 14; run++) {
        for (const isNew of [false, true]) {
          const commit = isNew
            ? nextRun(commits, { at: run, outputs: ["two"], input: run })
            : stepCommit(commits.at(-1)!, { output: "one" });
          await Promise.all([store.trim({ before: always }), store.commit(commit), store.trim({ before: always }), read()]);
          commits.push(commit);
        }
      }
      await store.trim({ before: always });
      await isHistory(store, "a", commits, commits.at(-1)!.head.run!.since);
      equal(await store.load("a"), snapshotAfter(...commits), "snapshot");
      equal((await store.trim({ before: always })).executions, 0, "executions of another trim");
    },
  },
  {
    name: "trim: a copy of a trimmed execution has the same gap",
    async run({ store }) {
      const commits = [startCommit("a")];
      for (const output of ["one", "two"]) commits.push(stepCommit(commits.at(-1)!, { output }));
      commits.push(nextRun(commits, { at: 10 }));
      const later = stepCommit(commits.at(-1)!, { output: "later" });
      await store.create(commits[0]!);
      await store.commit({ ...commits.at(-1)!, expectedVersion: 0, afterTrim: true });
      await store.commit(later);
      commits.push(later);
      await isHistory(store, "a", commits, 3);
      equal(await store.load("a"), snapshotAfter(...commits), "snapshot");
      equal((await store.trim({ before: always })).executions, 0, "trimmed");
      commits.push(nextRun(commits, { at: 20 }));
      await store.commit(commits.at(-1)!);
      equal((await store.trim({ before: always })).events, 2, "events of the next trim");
      await isHistory(store, "a", commits, 5);
    },
  },
  {
    name: "trim: what is of another form is refused, and nothing is deleted",
    async run({ store }) {
      const commits = await writtenRuns(store, "a", [10]);
      const wrong: Readonly<Record<string, readonly unknown[]>> = {
        before: ["2020-01-01", Number.NaN, null, undefined],
        definitionId: [{}, 7],
        dryRun: ["false"],
        limit: [0, 1.5],
        workflowId: [7],
        statuses: [["failed"]],
      };
      for (const [option, values] of Object.entries(wrong)) {
        for (const value of values) {
          const details = await rejectsWith("OPTION_INVALID", () => store.trim({ before: always, [option]: value } as never));
          equal(details.option, option, `option for ${JSON.stringify(value)}`);
        }
      }
      await isHistory(store, "a", commits, 0);
    },
  },
];

/** Expects that the store has the events of the commits, except those after the first one and before the version `since`. */
async function isHistory(store: SnapshotStore, id: string, commits: readonly Commit[], since: number): Promise<void> {
  const all = commits.flatMap(({ commitId, events }) => events.map((event) => ({ version: event.version, commitId, event })));
  const kept = all.filter(({ version }) => version === 0 || version >= since);
  equal(await store.events(id, -1, 1000), kept, "history");
  for (const limit of [1, 2, 3]) equal(await store.events(id, -1, limit), kept.slice(0, limit), `the first ${limit} events`);
  for (const after of [0, 1, since - 1, since]) {
    const later = kept.filter(({ version }) => version > after);
    equal(await store.events(id, after, 2), later.slice(0, 2), `two events after ${after}`);
  }
}

/** Trims, and returns the report with ids only. */
async function counted(store: SnapshotStore, options: TrimOptions) {
  const { trimmed, left, ...counts } = await store.trim(options);
  return { ...counts, trimmed: trimmed.map(idOf), left: left.map(idOf) };
}

function idOf({ workflowId }: { readonly workflowId: string }): string {
  return workflowId;
}
