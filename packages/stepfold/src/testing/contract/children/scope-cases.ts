import type { Event, SpawnedEvent } from "../../../core/snapshot/event.ts";
import type { ActivePath, Context, SnapshotHead } from "../../../core/snapshot/snapshot.ts";
import type { Json } from "../../../core/values/json.ts";
import type { Commit, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal, present } from "../../expectations.ts";
import { childrenOf, put, putEnded, setting, stepIn } from "./children.ts";

/** What a store promises about children, maps and compensations in the history: `load` puts them into the right place. */
export const scopeCases: readonly ContractCase[] = [
  {
    name: "scopes: results of children are theirs, and not the execution's",
    async run({ store }) {
      const first = startCommit("a", { children: [put("0#1/0"), put("0#1/0>0#1")] });
      await write(store, first, [
        (version) => ({ ...completed(version, "own") }),
        stepIn("0#1/0", "child", "step"),
        stepIn("0#1/0>0#1", "nested", "step"),
        stepIn("0#1/0", "again", "step"),
      ]);
      equal(outputsOf(present(await store.load("a"), "snapshot").context), { step: ["own"] }, "outputs of the execution");
      const { "0#1/0": child, "0#1/0>0#1": nested } = await childrenOf(store);
      equal(
        [child, nested].map((one) => outputsOf(one!.context)),
        [{ step: ["child", "again"] }, { step: ["nested"] }],
        "outputs of children",
      );
    },
  },
  {
    name: "scopes: variables are those of the execution and of each child, as far as a path can read them",
    async run({ store }) {
      const own = setting.bind(null, (version: number) => completed(version, null));
      const first = startCommit("a", { children: [put("0#1/0"), put("0#1/1")] });
      await write(store, first, [own({ x: 1, y: [] }), setting(stepIn("0#1/0", null), { x: { own: true } }), own({ x: 2 }), own({ x: 3 })]);
      // The only path of the execution has arrived with the last version, so it reads only the latest values.
      const expected = { x: [{ value: 3, version: 4 }], y: [{ value: [], version: 1 }] };
      equal(present(await store.load("a"), "snapshot").variables, expected, "variables of the execution");
      const { "0#1/0": child, "0#1/1": other } = await childrenOf(store);
      equal([child?.variables, other?.variables], [{ x: [{ value: { own: true }, version: 2 }] }, undefined], "variables of children");
    },
  },
  {
    name: "scopes: of a child that ended nothing stays but its output, unless it is kept",
    async run({ store }) {
      const first = startCommit("a", { children: [putEnded("ended", 1), putEnded("kept", 2, { kept: true })] });
      await write(store, first, [stepIn("ended", "e"), stepIn("kept", "k"), stepIn("deleted before", "d")]);
      const { ended, kept } = await childrenOf(store);
      equal([ended?.context, ended?.output], [{}, 1], "context and output of the one that ended");
      equal([outputsOf(kept!.context), kept?.output], [{ inner: ["k"] }, 2], "context and output of the one that is kept");
      equal(present(await store.load("a"), "snapshot").context, {}, "context of the execution");
    },
  },
  {
    name: "scopes: events come back with scope and consequences, and results that followed are where they belong",
    async run({ store }) {
      const first = startCommit("a", { children: [put("0#1/0")] });
      const result = (output: Json, version: number) => ({ output, timestamp: 5, attempt: 1, pathId: "0", version });
      const commits = await write(store, first, [
        (version) => ({
          ...completed(version, "own", "0#1/0"),
          consequences: {
            results: [
              { scope: "0#1/0", nodeId: "step", result: result("followed", version) },
              { nodeId: "step", result: { ...result(null, version), error: 'no "luck"' } },
            ],
            ended: [
              { scope: "0#1/0", pathId: "0.1", nodeId: "inner", reason: "late" },
              { pathId: "0.2", nodeId: "step", reason: "cancelled" },
            ],
          },
        }),
      ]);
      const rows = await store.events("a", 0, 10);
      equal(
        rows.map(({ event }) => event),
        commits[1]!.events,
        "events",
      );
      const { context } = present(await store.load("a"), "snapshot");
      equal(
        context.step?.map(({ error }) => error),
        ['no "luck"'],
        "errors of the execution",
      );
      equal(outputsOf((await childrenOf(store))["0#1/0"]!.context), { step: ["own", "followed"] }, "outputs of the child");
    },
  },
  {
    name: "scopes: items of maps are there while the map is, with those added to it",
    async run({ store }) {
      const nested = { ...pathAt("0#1"), id: "0" };
      const head = { activePaths: [pathAt("0#1"), { ...pathAt("0#4"), id: "0.1" }] };
      const children = [put("0#1/0", { activePaths: [nested] }), putEnded("0#1/1", null)];
      const first = startCommit("a", { children, head });
      const added = (version: number, item: Json, scope?: string): Event => ({
        ...stamp(version),
        ...(scope && { scope }),
        type: "itemAdded",
        pathId: "0",
        item,
      });
      await write(
        store,
        first,
        [
          (version) => spawned(version, 1, ["a", { b: [null] }]),
          (version) => added(version, "added"),
          (version) => spawned(version, 1, [], "0#1/0"),
          (version) => added(version, 1e21, "0#1/0"),
          (version) => spawned(version, 2, ["of a map that is over"]),
          (version) => spawned(version, 4, []),
          (version) => added(version, true),
        ],
        head,
      );
      const { mapItems } = present(await store.load("a"), "snapshot");
      equal(mapItems, { "0#1": ["a", { b: [null] }, "added"], "0#1/0>0#1": [1e21], "0#4": [true] }, "items");
    },
  },
  {
    name: "scopes: what was undone is told apart from what was done",
    async run({ store }) {
      const undoes = { scope: "0#1", pathId: "0", version: 1 };
      const error = { name: "Error", message: "stuck" };
      const task = { pathId: "undo", turn: 1, nodeId: "step", attempt: 1, startedAt: 4 };
      await write(store, startCommit("a"), [
        (version) => completed(version, "done"),
        (version) => ({ ...completed(version, "undone"), undoes: { pathId: "0", version: 1 } }),
        (version) => ({ ...stamp(version), ...task, type: "failed", error, retryAt: 9, undoes }),
        (version) => ({ ...stamp(version), ...task, type: "failed", error, retryAt: null, undoes }),
      ]);
      const { context, compensations } = present(await store.load("a"), "snapshot");
      equal(outputsOf(context), { step: ["done"] }, "outputs");
      const stuck = { nodeId: "step", undoes, output: null, timestamp: 5, attempt: 1, version: 4, error: "stuck" };
      const undone = { nodeId: "step", undoes: { pathId: "0", version: 1 }, output: "undone", timestamp: 5, attempt: 1, version: 2 };
      equal(compensations, [undone, stuck], "compensations");
    },
  },
  {
    name: "scopes: fields of heads and events that a store does not know are kept",
    async run({ store }) {
      const future: object = { future: { list: [1, null], text: "\u0000" } };
      const child = { key: "x", head: { ...put("x").head!, ...future } };
      const first = startCommit("a", { head: future, children: [child] });
      const second = stepCommit(first, { event: (version) => ({ ...completed(version, 1), ...future }) });
      await store.create(first);
      await store.commit(second);
      equal(await store.load("a"), snapshotAfter(first, second), "snapshot");
      equal((await store.events("a", 0, 1))[0]?.event, second.events[0], "event");
    },
  },
  {
    name: "scopes: inbox, rounds and ending of the head come and go with it",
    async run({ store }) {
      const head: Partial<SnapshotHead> = {
        inbox: [{ name: "go", key: "k", payload: { a: [1] }, expiresAt: 99 }],
        rounds: { "j|0#1": { got: ["x>j", "y>j"] } },
        ending: { status: "cancelled", nodeId: null, begun: [{ scope: "0#1", pathId: "0", nodeId: "step" }] },
      };
      const first = startCommit("a", { head });
      await store.create(first);
      equal(await store.load("a"), snapshotAfter(first), "snapshot");
      const { inbox: _, rounds: __, ending: ___, ...rest } = first.head;
      const second = stepCommit({ ...first, head: rest });
      await store.commit(second);
      equal(await store.load("a"), snapshotAfter(first, second), "snapshot without them");
    },
  },
];

/** Creates an execution and commits these events one by one. Fails unless the loaded snapshot is what these commits result in. */
async function write(
  store: SnapshotStore,
  first: Commit,
  events: readonly ((version: number) => Event)[],
  head: Partial<SnapshotHead> = {},
): Promise<Commit[]> {
  const commits = [first];
  for (const event of events) commits.push(stepCommit(commits.at(-1)!, { event, head }));
  await store.create(first);
  for (const commit of commits.slice(1)) await store.commit(commit);
  equal(await store.load("a"), snapshotAfter(...commits), "snapshot");
  return commits;
}

const stamp = (version: number) => ({ version, at: 5 });

function completed(version: number, output: Json, scope?: string): Event {
  const step = { type: "completed", pathId: "0", turn: version, nodeId: "step", attempt: 1, startedAt: 4, output } as const;
  return { ...stamp(version), ...step, ...(scope && { scope }) };
}

function spawned(version: number, visit: number, items: readonly Json[], scope?: string): SpawnedEvent {
  const map = { items, concurrency: 1, open: true, remaining: "finish", tolerated: 0 } as const;
  const step = { type: "spawned", pathId: "0", turn: version, nodeId: "step", attempt: 1, startedAt: 4 } as const;
  return { ...stamp(version), ...step, visit, ...(scope && { scope }), children: { workflow: "item", map } };
}

function pathAt(key: string): ActivePath {
  const map = { total: 0, next: 0, done: 0, failed: 0, cancelled: 0, concurrency: 1, remaining: "finish", tolerated: 0 } as const;
  const path = { id: "0", nodeId: "step", status: "suspended", turn: 2, visit: 1, attempts: 0, since: 0, stepPath: [] } as const;
  return { ...path, children: { key, workflow: "item", map } };
}

function outputsOf(context: Context): Record<string, (Json | null)[]> {
  return Object.fromEntries(Object.entries(context).map(([nodeId, results]) => [nodeId, results.map(({ output }) => output)]));
}
