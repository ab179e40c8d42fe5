import type { ActivePath } from "../../../core/snapshot/snapshot.ts";
import type { ListedWait } from "../../../core/transition/draft/listed-waits.ts";
import type { ListQuery } from "../../../ports/execution-list.ts";
import type { WaitFilter } from "../../../ports/list-filters.ts";
import type { Commit, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { type StepOptions, startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal, rejectsWith } from "../../expectations.ts";

const approval = (...responders: readonly string[]): ListedWait => ({ kind: "external", nodeId: "approve", responders });
const paid = (key: string): ListedWait => ({ kind: "signal", nodeId: "payment", signal: "paid", key });

/** Returns the parts of a commit after which the execution waits. */
function paused(waits: readonly ListedWait[]): Pick<StepOptions, "status" | "wakeAt" | "head"> {
  const activePaths = waits.map(({ nodeId, ...wait }, index): ActivePath => {
    const path = { id: `${index}`, nodeId, turn: 1, visit: 0, attempts: 0, since: 1, stepPath: [] };
    return { ...path, status: "suspended", waits: [{ id: `${index}@1`, ...wait }] };
  });
  return { status: "paused", wakeAt: null, head: { activePaths } };
}

/** Returns the parts of a commit that changes the waits of the execution. */
function open(waits: readonly ListedWait[]): Pick<StepOptions, "status" | "wakeAt" | "head" | "waits"> {
  return { ...paused(waits), waits };
}

/** What a store promises about lists that filter by waits. */
export const waitCases: readonly ContractCase[] = [
  {
    name: "waiting: lists find an execution by each thing that one of its waits says",
    async run({ store }) {
      await waitFor(store, "a", [approval("ada", "bob"), { kind: "timer", nodeId: "nap" }]);
      await waitFor(store, "b", [paid("k1"), { kind: "external", nodeId: "approve" }]);
      await store.create(startCommit("c", open([paid("k2")])));
      await store.create(startCommit("d"));
      const expected: readonly (readonly [WaitFilter, readonly string[]])[] = [
        [{}, ["c", "b", "a"]],
        [{ kind: "external" }, ["b", "a"]],
        [{ kind: "signal" }, ["c", "b"]],
        [{ kind: "timer" }, ["a"]],
        [{ nodeId: "approve" }, ["b", "a"]],
        [{ nodeId: "nobody" }, []],
        [{ responder: "ada" }, ["a"]],
        [{ responder: "bob", kind: "external", nodeId: "approve" }, ["a"]],
        [{ responder: "ad" }, []],
        [{ signal: "paid" }, ["c", "b"]],
        [{ signal: "paid", key: "k2" }, ["c"]],
        [{ key: "k3" }, []],
      ];
      for (const [waiting, ids] of expected) equal(await listedIds(store, { waiting }), ids, JSON.stringify(waiting));
      equal(await listedIds(store, { waiting: { kind: "signal" }, status: ["active"] }), [], "with another filter");
      const shown = (await store.list({ waiting: { kind: "timer" } })).items.map(({ waits = [], metadata }) => ({
        waits: waits.map(({ kind, nodeId }) => `${kind} ${nodeId}`),
        metadata,
      }));
      equal(shown, [{ waits: ["external approve", "timer nap"], metadata: { team: "red" } }], "what the item says");
    },
  },
  {
    name: "waiting: a list tells what is asked, and any other list does not",
    async run({ store }) {
      const first = startCommit("a");
      await store.create(first);
      const waits = [
        { id: "0@1", kind: "external", payload: { title: "Refund?" }, schema: { type: "object" }, responders: ["ada"], timeoutAt: 9e12 },
        { id: "0@1.1", kind: "timer", resumeAt: 9e12 },
        { id: "0@1.2", kind: "signal", signal: "paid", key: "k", openedAt: 5 },
      ] as const;
      const path = { id: "0", nodeId: "ask", turn: 1, visit: 0, attempts: 0, since: 1, stepPath: [], status: "suspended" as const, waits };
      const listed = [{ kind: "external", nodeId: "ask", responders: ["ada"] }] as const;
      await store.commit(stepCommit(first, { status: "paused", wakeAt: null, waits: listed, head: { activePaths: [path] } }));
      const { kind: _, ...asks } = waits[0];
      const asked = [
        { nodeId: "ask", kind: "external", ...asks },
        { nodeId: "ask", ...waits[2] },
      ];
      const [item] = (await store.list({ waiting: { responder: "ada" } })).items;
      equal(item?.asked, asked, "of a list with waiting");
      equal(
        (await store.list()).items.map((one) => "asked" in one),
        [false],
        "of any other list",
      );
    },
  },
  {
    name: "waiting: several things must be true of one and the same wait",
    async run({ store }) {
      await waitFor(store, "a", [approval("ada"), { kind: "external", nodeId: "review", responders: ["bob"] }, paid("k1")]);
      equal(await listedIds(store, { waiting: { nodeId: "approve", responder: "bob" } }), [], "of two waits");
      equal(await listedIds(store, { waiting: { nodeId: "payment", responder: "ada" } }), [], "of waits of two kinds");
      equal(await listedIds(store, { waiting: { nodeId: "review", responder: "bob" } }), ["a"], "of one wait");
      if (!store.count) return;
      const count = async (waiting: WaitFilter) => (await store.count!({ waiting })).counts.paused;
      equal(
        [await count({ nodeId: "approve", responder: "bob" }), await count({ responder: "bob" }), await count({})],
        [0, 1, 1],
        "counts",
      );
    },
  },
  {
    name: "waiting: lists find an execution by when one of its waits was opened",
    async run({ store }) {
      const sinceA = [{ ...approval("ada"), openedAt: 1_000 }, paid("k1")];
      await waitFor(store, "a", sinceA);
      await waitFor(store, "b", [
        { ...approval("ada"), openedAt: 9_000 },
        { kind: "timer", nodeId: "nap", openedAt: 1_000 },
      ]);
      await waitFor(store, "c", [approval("ada")]);
      await waitFor(
        store,
        "d",
        [1_000, 9_000].map((openedAt) => ({ ...approval("bob"), openedAt })),
      );
      const expected: readonly (readonly [WaitFilter, readonly string[]])[] = [
        [{ openedBefore: 1_000 }, []],
        [{ openedBefore: 1_000.5 }, ["d", "b", "a"]],
        [{ openedBefore: 9_000, responder: "ada" }, ["a"]],
        [{ openedBefore: 9_001, responder: "ada" }, ["b", "a"]],
        [{ openedAfter: 9_000 }, []],
        [{ openedAfter: 8_999 }, ["d", "b"]],
        [{ openedAfter: -1 }, ["d", "b", "a"]],
        [{ openedAfter: 999, openedBefore: 1_001 }, ["d", "b", "a"]],
        [{ openedAfter: 1_000, openedBefore: 9_000 }, []],
        [{ openedBefore: 10_000, kind: "signal" }, []],
        [{ openedBefore: 5_000, kind: "timer" }, ["b"]],
      ];
      for (const [waiting, ids] of expected) {
        equal(await listedIds(store, { waiting }), ids, JSON.stringify(waiting));
        if (store.count) equal((await store.count({ waiting })).counts.paused, ids.length, `count of ${JSON.stringify(waiting)}`);
      }
      equal(
        (await store.list({ order: "newest" })).items.at(-1)?.waits?.map(({ openedAt }) => openedAt ?? null),
        [1_000, null],
        "what the item says",
      );
    },
  },
  {
    name: "waiting: an execution is found by what it waits for now, and no more by what it has waited for",
    async run({ store }) {
      const first = await waitFor(store, "a", [approval("ada", "bob")]);
      const second = stepCommit(first, open([approval("bob")]));
      await store.commit(second);
      equal(await listedIds(store, { waiting: { responder: "ada" } }), [], "ada has answered");
      equal(await listedIds(store, { waiting: { responder: "bob" } }), ["a"], "bob has not");
      const beside = stepCommit(second, paused([approval("bob")]));
      await store.commit(beside);
      equal(await listedIds(store, { waiting: { responder: "bob" } }), ["a"], "after a commit that changes no wait");
      const last = stepCommit(beside, { waits: [] });
      await store.commit(last);
      for (const waiting of [{}, { responder: "bob" }, { kind: "external" }] as const)
        equal(await listedIds(store, { waiting }), [], `after the last wait, ${JSON.stringify(waiting)}`);
      await store.commit(stepCommit(last, { waits: [paid("k1")], status: "completed" }));
      equal((await store.list()).items[0]?.metadata, { team: "red" }, "metadata");
    },
  },
  {
    name: "waiting: a commit that is refused changes nothing of it",
    async run({ store }) {
      const first = await waitFor(store, "a", [approval("ada")]);
      await store.commit(stepCommit(first, paused([approval("ada")])));
      await rejectsWith("VERSION_CONFLICT", () => store.commit(stepCommit(first, open([approval("bob")]))));
      equal(await listedIds(store, { waiting: { responder: "ada" } }), ["a"], "as before");
      equal(await listedIds(store, { waiting: { responder: "bob" } }), [], "as refused");
    },
  },
  {
    name: "waiting: it is told apart from metadata, from the tenant, and from other texts",
    async run({ store }) {
      const names = ["ada", "Ada", 'a"da', "a,da", "é", "ada ", "x".repeat(400), "x".repeat(401), "\u0000", "%", "#1"];
      for (const [index, name] of names.entries()) await store.create(startCommit(`id-${index}`, open([approval(name)])));
      for (const [index, responder] of names.entries())
        equal(await listedIds(store, { waiting: { responder } }), [`id-${index}`], responder);
      const forged = { "~stepfold/waits": "x", "~stepfold/waits/kind": "child", responder: "eve" };
      await store.create(startCommit("forged", { metadata: forged, tenant: "t" }));
      equal(await listedIds(store, { waiting: { kind: "child" } }), [], "metadata is no wait");
      equal(await listedIds(store, { waiting: {}, tenant: "t" }), [], "nothing is waited for");
      equal((await store.list({ tenant: "t" })).items[0]?.metadata, forged, "metadata");
      equal((await store.load("id-0"))?.metadata, {}, "metadata of an execution that waits");
      equal((await store.loadHead("id-0"))?.metadata, {}, "metadata of the head of one");
      equal(await listedIds(store, { metadata: { "~stepfold/waits/kind": "child" } }), ["forged"], "found by metadata");
    },
  },
  {
    name: "waiting: pages give each execution once",
    async run({ store }) {
      const ids = Array.from({ length: 7 }, (_, index) => `id-${index}`);
      for (const [index, id] of ids.entries()) {
        await store.create(startCommit(id, index % 2 ? open([paid("k1")]) : {}));
      }
      const found: string[] = [];
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page = await store.list({ waiting: { signal: "paid", key: "k1" }, limit: 2, ...(cursor && { cursor }) });
        found.push(...page.items.map(({ workflowId }) => workflowId));
        cursor = page.nextCursor;
      }
      equal(found, ["id-5", "id-3", "id-1"], "all pages");
    },
  },
  {
    name: "waiting: a question of another form is refused",
    async run({ store }) {
      await store.create(startCommit("a"));
      for (const waiting of [
        null,
        "ada",
        [],
        { who: "ada" },
        { kind: "children" },
        { responder: 7 },
        { nodeId: { x: 1 } },
        { openedBefore: "1" },
        { openedAfter: Number.NaN },
      ]) {
        const { option } = await rejectsWith("OPTION_INVALID", () => store.list({ waiting } as never));
        equal(option, "waiting", JSON.stringify(waiting));
      }
    },
  },
];

/** Creates an execution that waits since its second commit, and returns this commit. */
async function waitFor(store: SnapshotStore, id: string, waits: readonly ListedWait[]): Promise<Commit> {
  const first = startCommit(id, { metadata: { team: "red" } });
  await store.create(first);
  const waiting = stepCommit(first, open(waits));
  await store.commit(waiting);
  return waiting;
}

async function listedIds(store: SnapshotStore, query: ListQuery): Promise<string[]> {
  return (await store.list(query)).items.map(({ workflowId }) => workflowId);
}
