import type { Event } from "../../../core/snapshot/event.ts";
import { type HistoryCheckpoint, historyCheckpoint } from "../../../core/snapshot/history-checkpoint.ts";
import type { Snapshot } from "../../../core/snapshot/snapshot.ts";
import type { Json } from "../../../core/values/json.ts";
import type { Commit, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal, holds, present, rejectsWith } from "../../expectations.ts";
import { gone, put, setting, stepIn } from "../children/children.ts";

/** What commits with a checkpoint promise: the next `load` begins at it. */
export const checkpointCases: readonly ContractCase[] = [
  {
    name: "checkpoints: load gives what the last one holds, and what came after it",
    async run({ store }) {
      const commits = await written(store, 3);
      commits.push(stepCommit(commits.at(-1)!, { output: "after" }));
      commits.push(stepCommit(commits.at(-1)!, { outputs: ["later", "last"] }));
      for (const commit of commits.slice(4)) await store.commit(commit);
      const loaded = present(await store.load("a"), "snapshot");
      equal(outputsOf(loaded), ["kept at 3", "after", "later", "last"], "outputs");
      equal(loaded, snapshotAfter(...commits), "snapshot");
    },
  },
  {
    name: "checkpoints: of several the latest counts",
    async run({ store }) {
      const commits = await written(store, 2);
      for (let count = 0; count < 3; count++) {
        const step = stepCommit(commits.at(-1)!, { outputs: [count, count + 0.5] });
        commits.push({ ...step, checkpoint: keepingOne(snapshotAfter(...commits, step), "kept") });
        await store.commit(commits.at(-1)!);
        equal(outputsOf(present(await store.load("a"), "snapshot")), [`kept at ${4 + 2 * count}`], `outputs after checkpoint ${count}`);
      }
      equal(await store.load("a"), snapshotAfter(...commits), "snapshot");
    },
  },
  {
    name: "checkpoints: are no part of the history, which stays whole",
    async run({ store }) {
      const commits = await written(store, 5);
      const rows = await store.events("a", -1, 100);
      equal(
        rows.map(({ event }) => event),
        commits.flatMap(({ events }) => events),
        "events",
      );
      equal(
        rows.map(({ commitId }) => commitId),
        commits.map(({ commitId }) => commitId),
        "commits",
      );
      equal(
        (await store.events("a", 2, 2)).map(({ version }) => version),
        [3, 4],
        "versions of a page",
      );
    },
  },
  {
    name: "checkpoints: what a refused commit holds counts for nothing",
    async run({ store }) {
      const commits = await written(store, 3);
      const late = stepCommit(commits[1]!, { output: "late" });
      const refused = { ...late, checkpoint: keepingOne(snapshotAfter(...commits.slice(0, 2), late), "refused") };
      await rejectsWith("VERSION_CONFLICT", () => store.commit(refused));
      equal(await store.load("a"), snapshotAfter(...commits), "snapshot");
    },
  },
  {
    name: "checkpoints: children, maps and compensations are there, but for children that are gone since",
    async run({ store }) {
      const keys = ["0#1/0", "0#1/1", "0#1/0>0#2"];
      const first = startCommit("a", { children: keys.map((key) => put(key)) });
      const second = stepCommit(first, { event: stepIn("0#1/0", "child") });
      const third = stepCommit(second, { event: setting(stepIn("0#1/1", "other"), { other: 1 }) });
      const undone = { nodeId: "step", output: "undone", timestamp: 5, attempt: 1, version: 2, undoes: { pathId: "0", version: 1 } };
      const variables = { total: [{ value: { sum: 1 }, version: 2 }] };
      const held = { ...snapshotAfter(first, second, third), compensations: [undone], variables, input: { of: ["the first event"] } };
      const commits = [first, second, { ...third, checkpoint: historyCheckpoint(held) }];
      const last = setting(stepIn("0#1/0", "later"), { own: ["x"] });
      commits.push(stepCommit(third, { event: last, children: [gone("0#1/1")] }));
      await store.create(first);
      for (const commit of commits.slice(1)) await store.commit(commit);
      const loaded = present(await store.load("a"), "snapshot");
      equal(Object.keys(loaded.childStates ?? {}), ["0#1/0", "0#1/0>0#2"], "keys of children");
      equal(loaded.input, held.input, "input");
      equal(loaded.compensations, [undone], "compensations");
      equal(loaded.variables, variables, "variables");
      equal(loaded.childStates, snapshotAfter(...commits).childStates, "children");
    },
  },
  {
    name: "checkpoints: large values that a head only refers to are read from the events",
    async run({ store }) {
      const text = "x".repeat(2_000);
      const commits = [startCommit("a")];
      commits.push(stepCommit(commits[0]!, { event: asking({ text }) }));
      const [path] = commits[1]!.head.activePaths;
      const wait = { id: "0@1", kind: "external" } as const;
      const head = (more: object) => ({
        activePaths: [{ ...path!, waits: [{ ...wait, ...more, inEvents: { payload: "1/waits/0/payload" } }] }],
      });
      commits[1] = { ...commits[1]!, head: { ...commits[1]!.head, ...head({}) } };
      for (const checked of [false, true]) {
        commits.push(stepCommit(commits.at(-1)!, { status: "paused", head: head({}) }));
        const whole = { ...snapshotAfter(...commits), ...head({ payload: { text } }) };
        if (checked) commits[3] = { ...commits[3]!, checkpoint: historyCheckpoint(whole) };
      }
      await store.create(commits[0]!);
      for (const commit of commits.slice(1)) {
        await store.commit(commit);
        const what = `the wait at version ${commit.head.version}`;
        const expected = [{ ...wait, payload: { text }, inEvents: { payload: "1/waits/0/payload" } }];
        equal(present(await store.load("a"), "snapshot").activePaths[0]?.waits, expected, what);
        equal(present(await store.loadHead("a"), "head").activePaths[0]?.waits, expected, `${what} in the head alone`);
      }
    },
  },
  {
    name: "checkpoints: head, checkpoint and events are of one version, also while others commit",
    async run({ store }) {
      let last = startCommit("a");
      await store.create(last);
      for (let count = 0; count < 20; count++) {
        const step = stepCommit(last, { outputs: [count, count] });
        last = count % 2 === 0 ? step : { ...step, checkpoint: keepingOne(snapshotAfter(step), "kept") };
        const write = store.commit(last);
        for (let reads = 0; reads < 6; reads++) {
          const { version, context } = present(await store.load("a"), "snapshot");
          const results = Object.hasOwn(context, "step") ? context.step! : [];
          equal(results.at(-1)?.version ?? 0, version, "version of the last result");
          // The first two results lie before the first checkpoint.
          holds(results.length <= 3, `${results.length} results were read, at version ${version}`);
        }
        await write;
      }
    },
  },
];

function asking(payload: Json): (version: number) => Event {
  const step = { type: "suspended", at: 5, pathId: "0", turn: 0, nodeId: "step", attempt: 1, startedAt: 4 } as const;
  return (version) => ({ ...step, version, waits: [{ id: "0@1", kind: "external", payload }] });
}

/** Writes an execution with this number of events after the first one. The last commit has a checkpoint. */
async function written(store: SnapshotStore, events: number): Promise<Commit[]> {
  const commits = [startCommit("a", { input: { n: 1 }, metadata: { of: "ann" } })];
  for (let count = 1; count <= events; count++) commits.push(stepCommit(commits.at(-1)!, { output: count }));
  commits[events] = { ...commits[events]!, checkpoint: keepingOne(snapshotAfter(...commits), "kept") };
  await store.create(commits[0]!);
  for (const commit of commits.slice(1)) await store.commit(commit);
  return commits;
}

/** Makes a checkpoint that holds only the last result, with an output that no event has. */
function keepingOne(snapshot: Snapshot, what: string): HistoryCheckpoint {
  const last = snapshot.context.step!.at(-1)!;
  return historyCheckpoint({ ...snapshot, context: { step: [{ ...last, output: `${what} at ${snapshot.version}` }] } });
}

function outputsOf({ context }: Snapshot): unknown[] {
  return (context.step ?? []).map(({ output }) => output);
}
