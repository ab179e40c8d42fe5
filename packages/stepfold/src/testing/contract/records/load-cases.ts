import type { Event } from "../../../core/snapshot/event.ts";
import { snapshotHead } from "../../../core/snapshot/snapshot-head.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal, holds, present } from "../../expectations.ts";
import { put } from "../children/children.ts";

const step = { pathId: "0", nodeId: "step", attempt: 1, at: 5 };
const task = { ...step, turn: 1, startedAt: 4 };

/** What `load` and `loadHead` promise. */
export const loadCases: readonly ContractCase[] = [
  {
    name: "load: an id that was never used gives null",
    async run({ store }) {
      equal(await store.load("nobody"), null, "snapshot");
    },
  },
  {
    name: "load: the head alone, without input, history and children",
    async run({ store }) {
      const first = startCommit("a", {
        ...{ input: { n: [1] }, metadata: { of: "ann", more: { text: "\u0000" } } },
        children: [put("0#1/0", { input: { item: 1 } })],
      });
      const second = stepCommit(first, { output: "x", status: "paused", head: { sizeBytes: 9, inbox: [] } });
      await store.create(first);
      await store.commit(second);
      const { input: _, ...head } = snapshotHead(snapshotAfter(first, second));
      const loaded = present(await store.loadHead("a"), "head");
      holds(Number.isFinite(loaded.createdAt), `createdAt is ${loaded.createdAt}`);
      equal({ ...loaded, createdAt: head.createdAt }, head, "head");
      equal(await store.loadHead("nobody"), null, "head of nobody");
      await store.commit(stepCommit(second, { status: "completed" }));
      await store.delete("a");
      equal(await store.loadHead("a"), null, "head of what was deleted");
    },
  },
  {
    name: "load: results of several nodes, in order",
    async run({ store }) {
      const commits = [startCommit("a")];
      for (const nodeId of ["x", "y", "x", "x", "y"]) {
        commits.push(stepCommit(commits.at(-1)!, { nodeId, output: { at: commits.length } }));
      }
      await store.create(commits[0]!);
      for (const commit of commits.slice(1)) await store.commit(commit);
      equal(await store.load("a"), snapshotAfter(...commits), "snapshot");
    },
  },
  {
    name: "load: every kind of event",
    async run({ store }) {
      const error = { name: "Error", message: 'no "luck" \u0000', code: "E1" };
      const kinds: ((version: number) => Event)[] = [
        (version) => ({ ...task, version, type: "failed", error, retryAt: 9 }),
        (version) => ({ version, at: 5, type: "retried", pathId: "0" }),
        (version) => ({ ...task, version, type: "suspended", waits: [{ id: "0@1", kind: "external", payload: { ask: null } }] }),
        (version) => ({ version, at: 5, type: "resumed", pathId: "0", waitId: "0@1", by: "payload", payload: [1], who: "ann" }),
        (version) => ({
          ...task,
          version,
          type: "suspended",
          waits: [{ id: "0@1", kind: "external", typeSchema: "s" }],
          schemas: { s: { type: "object" } },
        }),
        (version) => ({
          ...task,
          version,
          type: "answerRefused",
          waitId: "0@1",
          answer: version - 1,
          who: "ann",
          issues: [{ pointer: "", message: "no" }],
        }),
        (version) => ({ ...task, version, type: "failed", error, retryAt: null, handle: "error" }),
        (version) => ({ ...step, version, type: "timedOut", waitId: "0@1", error, handle: "timeout" }),
        (version) => ({ ...step, version, type: "timedOut", waitId: "0@1", error, handle: "error" }),
        (version) => ({ ...task, version, type: "completed", output: null, handles: ["yes"] }),
        (version) => ({ version, at: 5, type: "cancelled", reason: "enough" }),
      ];
      const commits = [startCommit("a")];
      for (const event of kinds) commits.push(stepCommit(commits.at(-1)!, { event }));
      await store.create(commits[0]!);
      for (const commit of commits.slice(1)) await store.commit(commit);
      equal(await store.load("a"), snapshotAfter(...commits), "snapshot");
      const rows = await store.events("a", -1, 100);
      equal(
        rows.map(({ event }) => event),
        commits.flatMap(({ events }) => events),
        "events",
      );
    },
  },
  {
    name: "load: consistent while others commit",
    async run({ store }) {
      let last = startCommit("a");
      await store.create(last);
      for (let count = 0; count < 30; count++) {
        last = stepCommit(last, { outputs: [count, count] });
        const written = store.commit(last);
        for (let reads = 0; reads < 8; reads++) {
          const { version, context } = present(await store.load("a"), "snapshot");
          const results = Object.hasOwn(context, "step") ? context.step! : [];
          equal(results.length, version, "number of results");
          holds(version % 2 === 0, `half of a commit was seen, at version ${version}`);
          equal(results.at(-1)?.version ?? 0, version, "version of the last result");
        }
        await written;
      }
    },
  },
  {
    name: "load: changing what was loaded changes nothing that is stored",
    async run({ store }) {
      const first = startCommit("a", { input: { list: [1] }, metadata: { tags: ["x"] } });
      const second = stepCommit(first, { output: { list: [1] } });
      await store.create(first);
      await store.commit(second);
      const loaded = await store.load("a");
      spoil(loaded);
      for (const { event } of await store.events("a", -1, 10)) spoil(event);
      for (const item of (await store.list()).items) spoil(item);
      equal(await store.load("a"), snapshotAfter(first, second), "snapshot");
      equal(
        (await store.events("a", -1, 10)).map(({ event }) => event),
        [...first.events, ...second.events],
        "events",
      );
      equal((await store.list()).items[0]?.metadata, { tags: ["x"] }, "metadata in the list");
    },
  },
  {
    name: "load: changing what was handed in changes nothing that is stored",
    async run({ store }) {
      const commit = startCommit("a", { input: { list: [1] }, metadata: { tags: ["x"] } });
      const expected = JSON.parse(JSON.stringify(snapshotAfter(commit)));
      const given = JSON.parse(JSON.stringify(commit)) as typeof commit;
      const created = store.create(given);
      spoil(given);
      await created;
      equal(await store.load("a"), expected, "snapshot");
      spoil(given);
      equal(await store.load("a"), expected, "snapshot");
    },
  },
  {
    name: "load: another handle sees what was acknowledged",
    needs: "multiProcess",
    async run({ store, open }) {
      const other = await open();
      let last = startCommit("a");
      await store.create(last);
      for (let count = 0; count < 5; count++) {
        holds((await other.load("a"))?.version === count, `the other handle does not see version ${count}`);
        last = stepCommit(last);
        await store.commit(last);
      }
      await other.close();
    },
  },
];

/** Changes every object and array in a value that can be changed. */
function spoil(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  for (const inner of Object.values(value)) spoil(inner);
  if (Object.isFrozen(value)) return;
  if (Array.isArray(value)) value.push("spoilt");
  else (value as Record<string, unknown>).spoilt = true;
}
