import type { Event } from "../../../core/snapshot/event.ts";
import type { Json } from "../../../core/values/json.ts";
import type { ListQuery } from "../../../ports/execution-list.ts";
import type { MetadataFilter } from "../../../ports/list-filters.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal, rejectsWith } from "../../expectations.ts";

type Expected = readonly (readonly [filter: MetadataFilter, values: readonly Json[]])[];

/** What a store promises about lists that filter metadata by bounds. */
export const rangeCases: readonly ContractCase[] = [
  {
    name: "range: lists find numbers between bounds, and nothing but numbers",
    async run({ store }) {
      const values: readonly Json[] = [-5, 0, 0.5, 9, 10, 100, 1e21, "9", "", true, false, null, [9], { n: 9 }];
      const expected: Expected = [
        [{ gt: 9 }, [10, 100, 1e21]],
        [{ gte: 9 }, [9, 10, 100, 1e21]],
        [{ lt: 0 }, [-5]],
        [{ lte: 0 }, [-5, 0]],
        [{ gte: 0, lt: 10 }, [0, 0.5, 9]],
        [{ gt: 9, lte: 100 }, [10, 100]],
        [{ gt: 0, gte: 10, lt: 100 }, [10]],
        [{ gt: 10, lt: 10 }, []],
        [{ gt: 1e20 }, [1e21]],
        [{ gte: -0.5, lt: 0.5 }, [0]],
      ];
      await findsEach(store, values, expected);
      equal(await idsOf(store, { metadata: { valueOf: { gt: 0 } } }), [], "a key of the prototype");
      equal(await idsOf(store, { metadata: { other: { lte: 1e300 } } }), [], "a key that nothing has");
    },
  },
  {
    name: "range: lists find texts between bounds by their code units, and nothing but texts",
    async run({ store }) {
      const long = "m".repeat(500);
      const values: readonly Json[] = ["", "10", "9", "Z", "a", "a ", "é", "e\u0301", "\u{1f600}", "\uffff", long, 5, null, ["a"]];
      const expected: Expected = [
        [{ gte: "" }, values.slice(0, 11)],
        [{ lt: "9" }, ["", "10"]],
        [{ gt: "9", lte: "a" }, ["Z", "a"]],
        [{ gt: "a", lt: "b" }, ["a "]],
        [{ gte: "\u{1f600}" }, ["\u{1f600}", "\uffff"]],
        [{ gt: "z", lt: "\u{1f600}" }, ["é"]],
        [{ gte: long, lt: `${long}a` }, [long]],
        [{ gt: "'; --", lt: "0" }, []],
      ];
      await findsEach(store, values, expected);
    },
  },
  {
    name: "range: it goes together with other filters, and counts count the same",
    async run({ store }) {
      const rows: Readonly<Record<string, Readonly<Record<string, Json>>>> = {
        ...{ a: { n: 1, team: "red" }, b: { n: 5, team: "red" } },
        ...{ c: { n: 5, team: "blue" }, d: { n: 9 } },
      };
      for (const [id, metadata] of Object.entries(rows))
        await store.create(startCommit(id, { metadata, definitionId: id === "b" ? "x" : "y" }));
      const expected: readonly (readonly [Pick<ListQuery, "metadata" | "definitionId" | "status">, readonly string[]])[] = [
        [{ metadata: { n: { gte: 5 }, team: "red" } }, ["b"]],
        [{ metadata: { n: { gte: 5 }, team: { lt: "n" } } }, ["c"]],
        [{ metadata: { n: { gte: 1, lt: 9 } }, definitionId: "y" }, ["c", "a"]],
        [{ metadata: { n: { lt: 9 } }, status: ["paused"] }, []],
        [{ metadata: { n: { gte: 5 }, team: undefined as never } }, ["d", "c", "b"]],
        [{ metadata: { n: { gt: 0, lt: undefined as never } } }, ["d", "c", "b", "a"]],
      ];
      for (const [query, ids] of expected) {
        equal(await idsOf(store, query), ids, JSON.stringify(query));
        if (!store.count) continue;
        const { active } = (await store.count(query)).counts;
        equal(active, ids.length, `count of ${JSON.stringify(query)}`);
      }
    },
  },
  {
    name: "range: pages give each execution once, by the metadata of now",
    async run({ store }) {
      for (let n = 0; n < 12; n++) {
        const first = startCommit(`id-${n}`, { metadata: { n } });
        await store.create(first);
        const metadata = { n: n + 1 };
        const event = (version: number): Event => ({ type: "metadataSet", version, at: 1_000, metadata });
        if (n % 4 === 0) await store.commit(stepCommit(first, { event, head: { metadata } }));
      }
      const found: string[] = [];
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page = await store.list({ metadata: { n: { gte: 5, lt: 9 } }, limit: 2, ...(cursor && { cursor }) });
        found.push(...page.items.map(({ workflowId }) => workflowId));
        cursor = page.nextCursor;
      }
      // The values 4 and 8 have become 5 and 9.
      equal(found, ["id-7", "id-6", "id-5", "id-4"], "all pages");
    },
  },
  {
    name: "range: bounds of another form are refused",
    async run({ store }) {
      await store.create(startCommit("a", { metadata: { n: 1 } }));
      const bounds: readonly unknown[] = [
        ...[{}, [], [1], { gt: undefined }, { gt: null }, { gt: true }, { gt: [1] }, { gt: {} }],
        ...[{ gt: Number.NaN }, { lt: Number.POSITIVE_INFINITY }, { gt: 1, lt: "9" }, { gte: "1", lte: 9 }],
        ...[{ $gt: 1 }, { eq: 1 }, { gt: 1, toString: 2 }, { ge: 1 }],
      ];
      for (const n of bounds) {
        const { option } = await rejectsWith("OPTION_INVALID", () => store.list({ metadata: { n } } as never));
        equal(option.split(".")[0], "metadata", JSON.stringify(n));
        if (store.count) await rejectsWith("OPTION_INVALID", () => store.count!({ metadata: { n } } as never));
      }
    },
  },
];

/** Creates an execution for each value, and checks which of them each filter finds. */
async function findsEach(store: SnapshotStore, values: readonly Json[], expected: Expected): Promise<void> {
  for (const [index, key] of values.entries()) await store.create(startCommit(`id-${index}`, { metadata: { key } }));
  await store.create(startCommit("without", { metadata: { other: "x" } }));
  for (const [filter, found] of expected) {
    const ids = found.map((value) => `id-${values.indexOf(value)}`).sort();
    equal((await idsOf(store, { metadata: { key: filter } })).sort(), ids, JSON.stringify(filter));
  }
}

/** Returns the ids from all pages; a single page may have few or none. */
async function idsOf(store: SnapshotStore, query: ListQuery): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await store.list({ ...query, ...(cursor && { cursor }) });
    ids.push(...page.items.map(({ workflowId }) => workflowId));
    cursor = page.nextCursor;
  }
  return ids;
}
