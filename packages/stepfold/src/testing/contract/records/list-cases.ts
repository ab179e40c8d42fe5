import type { Wait } from "../../../core/snapshot/parts/wait.ts";
import type { Status } from "../../../core/snapshot/snapshot.ts";
import type { Json } from "../../../core/values/json.ts";
import type { ListQuery } from "../../../ports/execution-list.ts";
import { startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase, StoreBench } from "../../contract-case.ts";
import { equal, holds, rejectsWith } from "../../expectations.ts";

const statuses: readonly Status[] = ["active", "paused", "error", "completed", "failed", "cancelled"];

/** What `list` finds. */
export const listCases: readonly ContractCase[] = [
  {
    name: "list: an empty store",
    async run({ store }) {
      equal(await store.list(), { items: [], nextCursor: null }, "page");
    },
  },
  {
    name: "list: what an item says",
    async run({ store, advance }) {
      const incarnation = "its own";
      const first = startCommit("a", { metadata: { customer: "ann", deep: { x: [1] } }, definitionId: "order", incarnation });
      await store.create(first);
      await advance(20);
      const waits: readonly Wait[] = [
        { id: "0@1", kind: "external", timeoutAt: 90 },
        { id: "0@1#2", kind: "timer", resumeAt: 77 },
      ];
      const place = {
        id: "0",
        nodeId: "approve",
        status: "suspended",
        turn: 1,
        visit: 0,
        attempts: 0,
        since: 1,
        stepPath: [],
        waits,
      } as const;
      const error = { name: "TypeError", message: "no number", code: "E_NONE", nodeId: "ship", details: { x: 1 } };
      await store.commit(
        stepCommit(first, { status: "paused", wakeAt: 77, head: { activePaths: [place], error, steps: 3, sizeBytes: 40 } }),
      );
      const { items } = await store.list();
      const { createdAt, updatedAt, ...rest } = items[0]!;
      equal(
        rest,
        {
          workflowId: "a",
          incarnation,
          definition: { id: "order", hash: "hash-of-order" },
          status: "paused",
          currentNodeId: "step",
          version: 1,
          metadata: { customer: "ann", deep: { x: [1] } },
          wakeAt: 77,
          lease: null,
          waiting: { kind: "external", nodeId: "approve", until: 77, count: 2 },
          error: { name: "TypeError", message: "no number", code: "E_NONE", nodeId: "ship" },
          steps: 3,
          sizeBytes: 40,
        },
        "item",
      );
      holds(Number.isInteger(createdAt) && Number.isInteger(updatedAt) && updatedAt > createdAt, `${createdAt}, ${updatedAt}`);
    },
  },
  {
    name: "list: newest first, also of those made in the same millisecond",
    async run({ store, advance }) {
      for (const id of ["a", "m", "c"]) await store.create(startCommit(id));
      await advance(5);
      for (const id of ["z", "b"]) await store.create(startCommit(id));
      equal(await idsOf(store), ["b", "z", "c", "m", "a"], "order");
      const a = await store.load("a");
      await store.commit(stepCommit(a!));
      equal(await idsOf(store), ["b", "z", "c", "m", "a"], "order after a commit");
    },
  },
  {
    name: "list: filters together give what each of them gives",
    async run(bench) {
      const rows = await fill(bench);
      const middle = rows[Math.floor(rows.length / 2)]!.createdAt;
      const choices: { readonly [K in keyof ListQuery]?: readonly ListQuery[K][] } = {
        status: [undefined, [], ["active"], ["paused", "failed"], statuses],
        definitionId: [undefined, "x", "y", "nobody"],
        metadata: [undefined, {}, { team: "red" }, { team: "red", n: 1 }],
        createdBefore: [undefined, middle],
        createdAfter: [undefined, middle],
      };
      for (const query of productOf(choices)) {
        const expected = rows.filter((row) => fits(row, query)).map(({ id }) => id);
        equal(await idsOf(bench.store, query), expected, JSON.stringify(query));
      }
    },
  },
  {
    name: "list: metadata values are equal only to values of the same type",
    async run({ store }) {
      const values: readonly Json[] = [1, "1", true, "true", null, "null", false, 0, "", "0", [1], { a: 1 }, 0.1, 1e308, 2 ** 53, -5, 1e19];
      for (const [index, value] of values.entries()) await store.create(startCommit(`id-${index}`, { metadata: { key: value } }));
      await store.create(startCommit("without"));
      for (const [index, value] of values.entries()) {
        if (typeof value === "object" && value !== null) continue;
        equal(await idsOf(store, { metadata: { key: value as string } }), [`id-${index}`], `those with ${JSON.stringify(value)}`);
      }
      for (const value of [2, "a", "[1]", '{"a":1}', 0.30000000000000004]) {
        equal(await idsOf(store, { metadata: { key: value } }), [], `those with ${value}`);
      }
    },
  },
  {
    name: "list: metadata keys are only names, whatever they look like",
    async run({ store }) {
      const keys = [
        ...["plain", "a.b", "a[0]", "$", "$.a", "$where", '"', '\\"', "'", "''", "\\", "%", "_", "?", ":a", "@a", "--", ";", " "],
        ...["", "constructor", "toString", "hasOwnProperty", "length", "é", "e\u0301", "名", "😀", "\u0000", "a\u0000b", "\n", "status"],
        ...["') OR 1=1 --", '") OR 1=1 --', "#-1", "*", "**", "0"],
      ];
      for (const [index, key] of keys.entries()) await store.create(startCommit(`id-${index}`, { metadata: { [key]: key } }));
      for (const [index, key] of keys.entries()) {
        equal(await idsOf(store, { metadata: { [key]: key } }), [`id-${index}`], `those with the key ${JSON.stringify(key)}`);
        equal(await idsOf(store, { metadata: { [key]: "other" } }), [], `another value at ${JSON.stringify(key)}`);
      }
      equal(await idsOf(store, { metadata: { valueOf: "x" } }), [], "a key of the prototype");
    },
  },
  {
    name: "list: a tenant's executions, and only these",
    async run({ store }) {
      const names = ["acme", "acm", "ACME", 'a"c', "é", "0"];
      for (const [index, tenant] of names.entries()) {
        const first = startCommit(`id-${index}`, { tenant, metadata: { team: "red" } });
        await store.create(first);
        await store.commit(stepCommit(first));
      }
      // Metadata never counts as a tenant, whatever its keys are.
      const forged = { tenant: "acme", "~stepfold/tenant": "acme", "~stepfold/tenant~": "acme" };
      await store.create(startCommit("without", { metadata: forged }));
      for (const [index, tenant] of names.entries()) {
        const { items } = await store.list({ tenant });
        equal(
          items.map(({ workflowId, tenant: whose, metadata }) => ({ workflowId, whose, metadata })),
          [{ workflowId: `id-${index}`, whose: tenant, metadata: { team: "red" } }],
          `those of ${tenant}`,
        );
        equal((await store.load(`id-${index}`))?.tenant, tenant, "the tenant of the snapshot");
      }
      equal(await idsOf(store, { tenant: "acme", metadata: { team: "blue" } }), [], "both filters");
      equal(await idsOf(store, { tenant: "nobody" }), [], "those of nobody");
      const found = (await store.list({ metadata: { "~stepfold/tenant": "acme" } })).items;
      equal(
        found.map(({ workflowId, tenant, metadata }) => ({ workflowId, tenant: tenant ?? null, metadata })),
        [{ workflowId: "without", tenant: null, metadata: forged }],
        "metadata with the key of the tenant",
      );
    },
  },
  {
    name: "list: hostile values of other filters find nothing and break nothing",
    async run({ store }) {
      await store.create(startCommit("a"));
      for (const text of ["'", '"', "' OR '1'='1", "%", "*", "\u0000", "\\"]) {
        equal(await idsOf(store, { definitionId: text }), [], `definition ${JSON.stringify(text)}`);
        await rejectsWith("OPTION_INVALID", () => store.list({ status: [text as Status] }));
      }
      equal(await idsOf(store), ["a"], "all");
    },
  },
  {
    name: "list: a filter of another form is refused",
    async run({ store }) {
      await store.create(startCommit("a", { metadata: { tenant: "x" } }));
      const wrong: Readonly<Record<string, readonly unknown[]>> = {
        metadata: [{ tenant: { x: "1" } }, { tenant: ["x"] }, ["x"], [], "x", null],
        definitionId: [{}, { x: "1" }, ["d"], 7, null],
        tenant: [{}, { x: "1" }, ["x"], 7, null],
        status: ["paused", {}, ["paused", 7], ["bogus"]],
        createdBefore: ["2020-01-01", Number.NaN, {}],
        createdAfter: ["0", Number.POSITIVE_INFINITY],
        statuses: [["paused"]],
      };
      for (const [option, values] of Object.entries(wrong)) {
        for (const value of values) {
          const details = await rejectsWith("OPTION_INVALID", () => store.list({ [option]: value } as never));
          // The option may name a member of the metadata: metadata.tenant.x
          equal(details.option.split(".")[0], option, `option for ${JSON.stringify(value)}`);
        }
      }
    },
  },
  {
    name: "list: a limit out of range is refused",
    async run({ store }) {
      for (const limit of [0, -1, 1001, 1.5, Number.NaN]) {
        equal((await rejectsWith("OPTION_INVALID", () => store.list({ limit }))).option, "limit", "option");
      }
    },
  },
];

interface Row {
  readonly id: string;
  readonly status: Status;
  readonly definitionId: string;
  readonly metadata: Readonly<Record<string, Json>>;
  readonly createdAt: number;
}

/** Creates one execution of every kind, and returns them newest first. */
async function fill({ store, advance }: StoreBench): Promise<Row[]> {
  const rows: Omit<Row, "createdAt">[] = [];
  const kinds: readonly Row["metadata"][] = [{}, { team: "red" }, { team: "red", n: 1 }];
  for (const status of statuses) {
    for (const definitionId of ["x", "y"]) {
      for (const metadata of kinds) {
        rows.push({ id: `id-${rows.length}`, status, definitionId, metadata });
      }
    }
  }
  for (const [index, { id, ...options }] of rows.entries()) {
    if (index % 9 === 0) await advance(2);
    await store.create(startCommit(id, options));
  }
  const times = new Map((await store.list({ limit: 1000 })).items.map(({ workflowId, createdAt }) => [workflowId, createdAt]));
  return rows.map((row) => ({ ...row, createdAt: times.get(row.id) ?? 0 })).reverse();
}

function fits(row: Row, { status, definitionId, metadata, createdBefore, createdAfter }: ListQuery): boolean {
  return (
    (!status || status.includes(row.status)) &&
    (definitionId === undefined || row.definitionId === definitionId) &&
    Object.entries(metadata ?? {}).every(([key, value]) => row.metadata[key] === value) &&
    (createdBefore === undefined || row.createdAt < createdBefore) &&
    (createdAfter === undefined || row.createdAt > createdAfter)
  );
}

function productOf(choices: { readonly [K in keyof ListQuery]?: readonly ListQuery[K][] }): ListQuery[] {
  let queries: ListQuery[] = [{}];
  for (const [key, values] of Object.entries(choices)) {
    queries = queries.flatMap((query) => values.map((value) => (value === undefined ? query : { ...query, [key]: value })));
  }
  return queries;
}

async function idsOf(store: StoreBench["store"], query: ListQuery = {}): Promise<string[]> {
  return (await store.list({ limit: 1000, ...query })).items.map(({ workflowId }) => workflowId);
}
