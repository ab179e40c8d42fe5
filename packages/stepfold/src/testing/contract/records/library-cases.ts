import type { WorkflowDefinition } from "../../../core/definition/definition.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal, holds, rejectsWith } from "../../expectations.ts";

const definitionOf = (id: string): WorkflowDefinition => ({ id, nodes: [{ id: "a", type: "http" }], edges: [] });

/** What a store promises about the list of definitions, and about which of them is published. */
export const libraryCases: readonly ContractCase[] = [
  {
    name: "library: the definitions that were put, the last one first, each once",
    needs: "definitions",
    async run({ store, advance }) {
      equal(await store.listDefinitions!(), [], "before the first");
      const before = await store.now();
      for (const [hash, id] of [
        ["h1", "order"],
        ["h2", "constructor"],
        ["h3", "order"],
        ["h4", "é 'a'"],
        ["h1", "order"],
      ] as const) {
        await store.putDefinition(hash, definitionOf(id));
        await advance(5);
      }
      const listed = await store.listDefinitions!();
      const expected = ["h4 é 'a'", "h3 order", "h2 constructor", "h1 order"];
      equal(namesOf(listed), expected, "all");
      for (const { hash, putAt } of listed) holds(putAt >= before && putAt <= before + 60_000, `${hash} was put at ${putAt}`);
      equal(Object.keys(listed[0]!).sort(), ["hash", "id", "putAt"], "what is said of one");
      equal(namesOf(await store.listDefinitions!({ id: "order" })), ["h3 order", "h1 order"], "versions of a workflow");
      equal(await store.listDefinitions!({ id: "other" }), [], "versions of one that is not there");
      equal(namesOf(await store.listDefinitions!({ limit: 2 })), expected.slice(0, 2), "two");
      equal(namesOf(await store.listDefinitions!({ id: "order", limit: 1 })), ["h3 order"], "the last version");
    },
  },
  {
    name: "library: what many put at once is listed, each once",
    needs: "definitions",
    async run({ store }) {
      const names = Array.from({ length: 24 }, (_, index) => `h${index} order-${index % 4}`);
      const puts = [...names, ...names].map((name) => {
        const [hash, id] = name.split(" ") as [string, string];
        return store.putDefinition(hash, definitionOf(id));
      });
      await Promise.all(puts);
      equal(namesOf(await store.listDefinitions!()).sort(), [...names].sort(), "all");
    },
  },
  {
    name: "library: very many versions of one workflow may be put at once, over several handles",
    needs: "definitions",
    async run({ store, open }) {
      const other = store.features.multiProcess ? await open() : store;
      const hashes = Array.from({ length: 150 }, (_, index) => `h${index}`);
      await Promise.all(hashes.map((hash, index) => (index % 2 ? store : other).putDefinition(hash, definitionOf("order"))));
      for (const hash of ["h0", "h149"]) equal(await store.getDefinition(hash), definitionOf("order"), hash);
      const listed = (await store.listDefinitions!({ id: "order" })).map(({ hash }) => hash);
      // The list keeps at most 50 versions of each workflow.
      equal(listed.length, 50, "how many are listed");
      equal(new Set(listed).size, 50, "how many of them differ");
      holds(
        listed.every((hash) => hashes.includes(hash)),
        "one is listed that was not put",
      );
    },
  },
  {
    name: "library: a definition is listed under the hash that is said, or not at all",
    needs: "definitions",
    async run({ store }) {
      await store.putDefinition("kept-1", definitionOf("order"), { listedAs: "h1" });
      await store.putDefinition("kept-2", definitionOf("order"), { listedAs: "h1" });
      await store.putDefinition("h2", definitionOf("order"), { listedAs: null });
      equal(namesOf(await store.listDefinitions!()), ["h1 order"], "listed");
      equal(await store.getDefinition("kept-2"), definitionOf("order"), "one that is listed under another hash");
      equal(await store.getDefinition("h2"), definitionOf("order"), "one that is not listed");
      await store.putDefinition("h2", definitionOf("order"));
      equal(namesOf(await store.listDefinitions!()).sort(), ["h1 order", "h2 order"], "after it was put again");
    },
  },
  {
    name: "library: which definition is published changes only from the one that was expected",
    needs: "definitions",
    async run({ store }) {
      equal(await publishedOf(store, ["order"]), {}, "before the first");
      await store.label!("order", "h1", null);
      await store.label!("constructor", "h1", null);
      await store.label!("order", "h2", "h1");
      for (const expected of [null, "h1", "h3"]) {
        const { workflow, actual } = await rejectsWith("LABEL_CONFLICT", () => store.label!("order", "h4", expected));
        equal([workflow, actual], ["order", "h2"], `expected ${expected}`);
      }
      equal(await publishedOf(store, ["order", "constructor", "other", "order"]), { order: "h2", constructor: "h1" }, "published");
      await rejectsWith("LABEL_CONFLICT", () => store.label!("order", null, "h1"));
      await store.label!("order", null, "h2");
      equal(await publishedOf(store, ["order", "constructor"]), { constructor: "h1" }, "after one was taken back");
      await rejectsWith("LABEL_CONFLICT", () => store.label!("order", "h2", "h2"));
      equal(await publishedOf(store, []), {}, "of none");
    },
  },
  {
    name: "library: publishing again what is published is acknowledged",
    needs: "definitions",
    async run({ store }) {
      for (let count = 0; count < 2; count++) await store.label!("order", "h1", null);
      for (let count = 0; count < 2; count++) await store.label!("order", "h2", "h1");
      equal(await publishedOf(store, ["order"]), { order: "h2" }, "published");
      for (let count = 0; count < 2; count++) await store.label!("order", null, "h2");
      equal(await publishedOf(store, ["order"]), {}, "after it was taken back");
    },
  },
  {
    name: "library: of many that publish at once one is told that it did",
    needs: "definitions",
    async run({ store, open }) {
      const other = store.features.multiProcess ? await open() : store;
      await store.label!("order", "h", null);
      const hashes = Array.from({ length: 10 }, (_, index) => `h${index}`);
      const settled = await Promise.allSettled(hashes.map((hash, index) => (index % 2 ? store : other).label!("order", hash, "h")));
      const made = hashes.filter((_, index) => settled[index]!.status === "fulfilled");
      equal(made.length, 1, "how many were told");
      equal(await publishedOf(store, ["order"]), { order: made[0]! }, "published");
    },
  },
  {
    name: "library: questions and labels of another form are refused",
    needs: "definitions",
    async run({ store }) {
      const queries: readonly [string, object][] = [
        ["id", { id: "" }],
        ["id", { id: 7 }],
        ["limit", { limit: 0 }],
        ["limit", { limit: 4_001 }],
        ["order", { order: "newest" }],
      ];
      for (const [option, query] of queries) {
        equal((await rejectsWith("OPTION_INVALID", () => store.listDefinitions!(query))).option, option, JSON.stringify(query));
      }
      const labels: readonly [string, unknown[]][] = [
        ["id", ["", "h1", null]],
        ["id", ["x".repeat(256), "h1", null]],
        ["hash", ["order", "", null]],
        ["hash", ["order", undefined, null]],
        ["expected", ["order", "h1", 7]],
        ["expected", ["order", "h1"]],
      ];
      for (const [option, given] of labels) {
        const set = () => store.label!(...(given as [string, string, null]));
        equal((await rejectsWith("OPTION_INVALID", set)).option, option, JSON.stringify(given));
      }
      for (const ids of ["order", [7], Array.from({ length: 201 }, (_, index) => `order-${index}`)]) {
        equal((await rejectsWith("OPTION_INVALID", () => store.labels!(ids as string[]))).option, "ids", "ids");
      }
      equal(await publishedOf(store, ["order"]), {}, "published");
    },
  },
];

function namesOf(listed: readonly { readonly id: string; readonly hash: string }[]): string[] {
  return listed.map(({ id, hash }) => `${hash} ${id}`);
}

async function publishedOf(store: SnapshotStore, ids: readonly string[]): Promise<Record<string, string>> {
  return Object.fromEntries(await store.labels!(ids));
}
