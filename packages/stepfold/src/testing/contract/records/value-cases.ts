import type { Json } from "../../../core/values/json.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal, present } from "../../expectations.ts";

const deep = (levels: number): Json => (levels === 0 ? "bottom" : levels % 2 ? [deep(levels - 1)] : { in: deep(levels - 1) });

const values: Readonly<Record<string, Json>> = {
  "unicode text": ["é", "e\u0301", "名前", "😀", "\u202e", "\ufeff", "\uffff", "\u2028"],
  "control characters": ["\u0000", "a\u0000b", "\n\r\t\b\f", "\u0001\u001f\u007f"],
  "quotes and escapes": ["'", '"', "\\", "\\\\", "\\u0000", "''", "`", "\u0024{x}", "%s", "$1", "?1", ":a", "{{ x }}", "</script>"],
  "a long text": "x".repeat(300_000),
  "a long text of wide characters": "😀".repeat(50_000),
  "numbers at the edges": [
    0,
    1e308,
    -1e308,
    5e-324,
    2 ** 53,
    -(2 ** 53),
    2 ** 53 - 1,
    1e21,
    0.1,
    0.30000000000000004,
    1 / 3,
    1.5e-7,
    123456789012345680,
  ],
  "empty things": [[], {}, "", null, [[]], [{}], { a: [], b: {} }, { "": "" }],
  "null and absent": { there: null },
  "dangerous keys": {
    ...{ constructor: 1, toString: 2, hasOwnProperty: 3, valueOf: 4, length: 5, then: 6, toJSON: 7, prototype: 8 },
    ...{ "a.b": 1, $where: 2, $set: 3, "'": 4, '"': 5, "": 6, " ": 7, "\u0000": 8, "0": 9, "[0]": 10, "$.x": 11 },
  },
  "64 levels": deep(64),
  "a large array": Array.from({ length: 20_000 }, (_, index) => index),
  "a large object": Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`key-${index}`, index])),
  booleans: [true, false],
  "text that looks like something else": ["null", "true", "1", "1.0", "[]", "{}", "NaN", "2026-01-01T00:00:00.000Z", "undefined"],
};

const ids = [
  "a b",
  "a/b",
  "a'b",
  'a"b',
  "a\\b",
  "a;b",
  "%",
  "_",
  "é",
  "e\u0301",
  "名",
  "😀",
  "a\u0000b",
  "$where",
  "constructor",
  "A",
  "a",
  " a",
];

/** Values come back exactly as they were, wherever they are stored. */
export const valueCases: readonly ContractCase[] = [
  ...Object.entries(values).map(
    ([what, value]): ContractCase => ({
      name: `values: ${what}`,
      async run({ store }) {
        const first = startCommit("a", { input: value, metadata: { value } });
        const second = stepCommit(first, { output: value });
        await store.create(first);
        await store.commit(second);
        const expected = snapshotAfter(first, second);
        const loaded = present(await store.load("a"), "snapshot");
        equal(loaded, expected, "snapshot");
        // Compares the text too, because the order of keys and the form of numbers count.
        equal(JSON.stringify(loaded.input), JSON.stringify(value), "input as text");
        equal(JSON.stringify(loaded.metadata), JSON.stringify({ value }), "metadata as text");
        equal(JSON.stringify(loaded.context.step?.[0]?.output), JSON.stringify(value), "output as text");
        equal(
          (await store.events("a", -1, 10)).map(({ event }) => event),
          [...first.events, ...second.events],
          "events",
        );
        equal((await store.list()).items[0]?.metadata, { value }, "metadata in the list");
      },
    }),
  ),
  {
    name: "values: the order of keys stays",
    async run({ store }) {
      const value = { zebra: 1, apple: 2, mango: { z: 1, a: 2 }, b: 3, aa: 4 };
      await store.create(startCommit("a", { input: value, metadata: value }));
      const loaded = present(await store.load("a"), "snapshot");
      equal(JSON.stringify(loaded.input), JSON.stringify(value), "input");
      equal(JSON.stringify(loaded.metadata), JSON.stringify(value), "metadata");
    },
  },
  {
    name: "values: node ids are only names",
    async run({ store }) {
      const commits = [startCommit("a")];
      for (const nodeId of ["toString", "hasOwnProperty", "valueOf", "step.one", "0", "-", "_", "toString"]) {
        commits.push(stepCommit(commits.at(-1)!, { nodeId, output: nodeId }));
      }
      await store.create(commits[0]!);
      for (const commit of commits.slice(1)) await store.commit(commit);
      equal(await store.load("a"), snapshotAfter(...commits), "snapshot");
    },
  },
  {
    name: "values: every id is an id of its own",
    async run({ store }) {
      for (const id of ids) await store.create(startCommit(id, { input: id }));
      for (const id of ids) {
        const snapshot = present(await store.load(id), JSON.stringify(id));
        equal([snapshot.workflowId, snapshot.input], [id, id], "id and input");
        await store.commit(stepCommit(snapshot, { output: id }));
      }
      const { items } = await store.list({ limit: 1000 });
      equal(
        items.map(({ workflowId }) => workflowId),
        [...ids].reverse(),
        "ids in the list",
      );
      const claimed = await store.claim({ owner: "worker", leaseMs: 1000, limit: 100 });
      equal(
        claimed.map(({ workflowId }) => workflowId),
        ids,
        "ids of the claims",
      );
    },
  },
  {
    name: "values: a large history loads whole",
    async run({ store }) {
      const first = startCommit("a");
      const second = stepCommit(first, { outputs: Array.from({ length: 2000 }, (_, index) => ({ index, text: "x".repeat(50) })) });
      await store.create(first);
      await store.commit(second);
      equal(await store.load("a"), snapshotAfter(first, second), "snapshot");
    },
  },
];
