import type { Status } from "../../../core/snapshot/snapshot.ts";
import type { Json } from "../../../core/values/json.ts";
import type { EndedSeries, EndStatus } from "../../../ports/execution-counts.ts";
import { durationClassOf } from "../../../ports/execution-counts.ts";
import type { CountQuery, ExecutionSummary, ListQuery } from "../../../ports/execution-list.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase, StoreBench } from "../../contract-case.ts";
import { equal, holds, rejectsWith } from "../../expectations.ts";

const statuses: readonly Status[] = ["active", "paused", "error", "parked", "completed", "failed", "cancelled"];

/** What lists promise besides pages of the newest: their order, ids with a prefix, counts, and series of ended executions. */
export const countCases: readonly ContractCase[] = [
  {
    name: "list: oldest first is the same list from its other end",
    needs: "lists",
    async run(bench) {
      await fill(bench);
      for (const query of [{}, { definitionId: "x" }, { metadata: { team: "red" } }, { status: ["paused", "failed"] as const }]) {
        const newest = await allIds(bench.store, { ...query, limit: 1000 });
        for (const limit of [1, 3, 1000]) {
          equal(
            await allIds(bench.store, { ...query, order: "oldest", limit }),
            newest.toReversed(),
            `${JSON.stringify(query)}, by ${limit}`,
          );
        }
        equal(await allIds(bench.store, { ...query, order: "newest", limit: 3 }), newest, "newest first, if that is asked for");
      }
      const middle = (await bench.store.list({ limit: 20 })).items.at(-1)!.createdAt;
      const [before, after] = [{ createdBefore: middle }, { createdAfter: middle }];
      for (const part of [before, after, { ...after, createdBefore: middle + 1 }]) {
        equal(
          await allIds(bench.store, { ...part, order: "oldest" }),
          (await allIds(bench.store, part)).toReversed(),
          JSON.stringify(part),
        );
      }
    },
  },
  {
    name: "list: executions that come meanwhile are at the end of a list of the oldest",
    needs: "lists",
    async run({ store, advance }) {
      for (const id of ["a", "b", "c"]) await store.create(startCommit(id));
      const first = await store.list({ order: "oldest", limit: 2 });
      await advance(2);
      await store.create(startCommit("d"));
      equal(await allIds(store, { order: "oldest", limit: 2, cursor: first.nextCursor! }), ["c", "d"], "rest");
    },
  },
  {
    name: "list: ids that begin so are told apart by every character",
    needs: "lists",
    async run({ store }) {
      const ids = [
        "order-1",
        "order-10",
        "order-2",
        "Order-1",
        "orders",
        "order",
        "ordes",
        "órder-1",
        "order_1",
        "order%",
        "😀-1",
        "\\-1",
        "~",
      ];
      for (const id of ids) await store.create(startCommit(id, { metadata: { team: "red" } }));
      for (const idPrefix of [
        "order-1",
        "order",
        "order-",
        "O",
        "ó",
        "order%",
        "order_",
        "😀",
        "\\",
        "~",
        "",
        "nobody",
        "'",
        "order-10 ",
      ]) {
        const expected = ids.filter((id) => id.startsWith(idPrefix)).toReversed();
        equal(await allIds(store, { idPrefix, limit: 2 }), expected, `those that begin with ${JSON.stringify(idPrefix)}`);
        equal(await allIds(store, { idPrefix, metadata: { team: "red" } }), expected, "and have metadata");
        equal((await store.count!({ idPrefix })).counts.active, expected.length, `the number of ${JSON.stringify(idPrefix)}`);
      }
    },
  },
  {
    name: "list: an order or a beginning of another form is refused",
    needs: "lists",
    async run({ store }) {
      for (const [option, values] of Object.entries({ order: ["asc", 1, null, {}], idPrefix: [1, {}, ["a"], null] })) {
        for (const value of values) {
          const details = await rejectsWith("OPTION_INVALID", () => store.list({ [option]: value } as never));
          equal(details.option, option, `option for ${JSON.stringify(value)}`);
        }
      }
    },
  },
  {
    name: "count: of each status as many as the list has, whatever is asked for",
    needs: "lists",
    async run(bench) {
      const { store } = bench;
      await fill(bench);
      const middle = (await store.list({ limit: 20 })).items.at(-1)!.createdAt;
      const queries: readonly CountQuery[] = [
        ...[
          {},
          { status: ["paused"] as const },
          { status: [] },
          { definitionId: "x" },
          { metadata: { team: "red" } },
          { createdBefore: middle },
        ],
        { createdAfter: middle, definitionId: "y", status: ["failed", "completed", "parked"], metadata: { n: 1 } },
      ];
      for (const query of queries) {
        const { items } = await store.list({ ...query, limit: 1000 });
        const { counts, capped, complete } = await store.count!(query);
        const expected = Object.fromEntries(statuses.map((status) => [status, items.filter((item) => item.status === status).length]));
        equal({ ...counts }, expected, `counts for ${JSON.stringify(query)}`);
        equal({ capped, complete }, { capped: false, complete: true }, "what it says of itself");
      }
    },
  },
  {
    name: "count: at most so many of each status, and says that there may be more",
    needs: "lists",
    async run({ store }) {
      for (let index = 0; index < 5; index++) await store.create(startCommit(`a-${index}`));
      for (let index = 0; index < 2; index++) await store.create(startCommit(`b-${index}`, { status: "completed" }));
      for (const [atMost, active, completed, capped] of [
        [1, 1, 1, true],
        [3, 3, 2, true],
        [6, 5, 2, false],
      ] as const) {
        const found = await store.count!({}, atMost);
        equal([found.counts.active, found.counts.completed, found.capped], [active, completed, capped], `at most ${atMost}`);
      }
      for (const atMost of [0, -1, 1.5, Number.NaN, 2 ** 40]) {
        equal((await rejectsWith("OPTION_INVALID", () => store.count!({}, atMost))).option, "atMost", `option for ${atMost}`);
      }
      for (const option of ["limit", "cursor", "order", "nonsense"]) {
        equal((await rejectsWith("OPTION_INVALID", () => store.count!({ [option]: 1 } as never))).option, option, "option");
      }
    },
  },
  {
    name: "summaries: those that are there, as the list has them",
    needs: "lists",
    async run({ store }) {
      for (const id of ["a", "b", "c"]) await store.create(startCommit(id, { metadata: { id } }));
      await store.create(startCommit("gone", { status: "completed" }));
      await store.delete("gone");
      const listed = (await store.list()).items.filter(({ workflowId }) => workflowId !== "b");
      const found = [...(await store.summaries!(["a", "nobody", "c", "gone", "a"]))];
      const byId = (a: ExecutionSummary, b: ExecutionSummary): number => (a.workflowId < b.workflowId ? -1 : 1);
      equal(found.sort(byId), [...listed].sort(byId), "summaries");
      equal(await store.summaries!([]), [], "of none");
      const many = Array.from({ length: 201 }, (_, index) => `id-${index}`);
      equal((await rejectsWith("OPTION_INVALID", () => store.summaries!(many))).option, "workflowIds", "option");
      equal(await store.summaries!(many.slice(1)), [], "of 200 that are not there");
    },
  },
  {
    name: "ended: how many ended in each part of a time, and how long they took",
    needs: "lists",
    async run({ store, advance }) {
      const begun = await store.now();
      const ends: readonly (readonly [EndStatus, string])[] = [
        ...([
          ["completed", "x"],
          ["completed", "y"],
          ["failed", "x"],
          ["cancelled", "x"],
          ["completed", "x"],
        ] as const),
      ];
      for (const [index, [status, definitionId]] of ends.entries()) {
        const first = startCommit(`id-${index}`, { definitionId });
        await store.create(first);
        await advance(index === 2 ? 120 : 3);
        await store.commit(stepCommit(first, { status }));
      }
      await store.create(startCommit("open"));
      await store.create(startCommit("at-once", { status: "completed", definitionId: "x" }));
      await advance(5);
      const now = await store.now();
      const items = (await store.list({ status: ["completed", "failed", "cancelled"] })).items;
      const times = items.map(({ updatedAt }) => updatedAt).sort((a, b) => a - b);
      const ranges = [
        ...[
          { from: begun, to: now + 1, buckets: 1 },
          { from: begun, to: now + 1, buckets: 7 },
          { from: begun, to: now + 1, buckets: 120 },
        ],
        ...[
          { from: times[1]!, to: times[3]!, buckets: 2 },
          { from: times[3]!, to: times[3]! + 1, buckets: 1 },
          { from: now + 1, to: now + 9, buckets: 3 },
        ],
      ];
      for (const range of ranges) {
        for (const definitionId of [undefined, "x", "nobody"]) {
          const query = { ...range, ...(definitionId !== undefined && { definitionId }) };
          const { buckets, complete } = await store.ended!(query);
          equal({ length: buckets.length, complete }, { length: range.buckets, complete: true }, "what it says of itself");
          equal(seriesText(buckets), expectedText(items, query), `series of ${JSON.stringify(query)}`);
        }
      }
    },
  },
  {
    name: "ended: a time of another form is refused",
    needs: "lists",
    async run({ store }) {
      const right = { from: 0, to: 10, buckets: 2 };
      for (const [option, values] of Object.entries({
        ...{
          from: ["0", Number.NaN, undefined],
          to: [0, -1, "9", undefined],
          buckets: [0, 121, 1.5, "2", undefined],
          definitionId: [1, {}],
        },
        more: [1],
      })) {
        for (const value of values) {
          const details = await rejectsWith("OPTION_INVALID", () => store.ended!({ ...right, [option]: value } as never));
          equal(details.option, option, `option for ${JSON.stringify(value)}`);
        }
      }
    },
  },
];

/** Creates executions of every kind. */
async function fill({ store, advance }: StoreBench): Promise<void> {
  const kinds: readonly Readonly<Record<string, Json>>[] = [{}, { team: "red" }, { team: "red", n: 1 }];
  let made = 0;
  for (const definitionId of ["x", "y"]) {
    for (const metadata of kinds) {
      for (const status of statuses) {
        if (made % 8 === 0) await advance(2);
        await store.create(startCommit(`id-${made++}`, { status, definitionId, metadata }));
      }
    }
  }
}

async function allIds(store: SnapshotStore, query: ListQuery): Promise<string[]> {
  const ids: string[] = [];
  let { cursor } = query;
  for (let pages = 0; pages < 100; pages++) {
    const { items, nextCursor } = await store.list(cursor === undefined ? query : { ...query, cursor });
    holds(items.length <= (query.limit ?? 50), `${items.length} items on a page`);
    ids.push(...items.map(({ workflowId }) => workflowId));
    if (nextCursor === null) return ids;
    cursor = nextCursor;
  }
  return [...ids, "and no end of pages"];
}

/** Returns a line for each count above 0: begin of the bucket, status, class of duration and number. */
function seriesText(buckets: EndedSeries["buckets"]): string[] {
  return buckets.flatMap(({ from, durations }) =>
    Object.entries(durations).flatMap(([status, counts]) =>
      counts.flatMap((count, durationClass) => (count > 0 ? [`${from} ${status} ${durationClass} ${count}`] : [])),
    ),
  );
}

function expectedText(
  items: readonly ExecutionSummary[],
  query: { from: number; to: number; buckets: number; definitionId?: string },
): string[] {
  const { from, to, definitionId } = query;
  const length = Math.ceil((to - from) / query.buckets);
  const counts = new Map<string, number>();
  for (const { status, createdAt, updatedAt, definition } of items) {
    if (updatedAt < from || updatedAt >= to || (definitionId ?? definition.id) !== definition.id) continue;
    const key = `${from + Math.floor((updatedAt - from) / length) * length} ${status} ${durationClassOf(updatedAt - createdAt)}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const order = ["completed", "failed", "cancelled"];
  const partsOf = (text: string): [number, number, number] => {
    const [begun, status, durationClass] = text.split(" ") as [string, string, string];
    return [Number(begun), order.indexOf(status), Number(durationClass)];
  };
  const sorted = [...counts].sort(([a], [b]) => {
    const [one, other] = [partsOf(a), partsOf(b)];
    return one[0] - other[0] || one[1] - other[1] || one[2] - other[2];
  });
  return sorted.map(([key, count]) => `${key} ${count}`);
}
