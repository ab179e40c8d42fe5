import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import type { StoredDefinition } from "../../../ports/store-definitions.ts";
import { altered, type BrokenStore } from "../broken-store.ts";

/** Mistakes in the list of definitions, and in which of them is published. */
export const brokenLibrary: readonly BrokenStore[] = [
  {
    name: "lists a definition as often as it was put",
    caughtBy: "library: the definitions that were put, the last one first, each once",
    breaks(store) {
      const put: StoredDefinition[] = [];
      return altered(store, {
        async putDefinition(hash, definition, options) {
          await store.putDefinition(hash, definition, options);
          put.unshift({ id: definition.id, hash, putAt: await store.now() });
        },
        listDefinitions: async ({ id, limit = 100 } = {}) => put.filter((one) => id === undefined || one.id === id).slice(0, limit),
      });
    },
  },
  {
    name: "lists the definition first that was put first",
    caughtBy: "library: the definitions that were put, the last one first, each once",
    breaks: (store) => altered(store, { listDefinitions: async (query) => (await store.listDefinitions!(query)).toReversed() }),
  },
  {
    name: "lists the versions of all workflows for those of one",
    caughtBy: "library: the definitions that were put, the last one first, each once",
    breaks: (store) => altered(store, { listDefinitions: ({ id: _, ...query } = {}) => store.listDefinitions!(query) }),
  },
  {
    name: "lists all definitions, however few are asked for",
    caughtBy: "library: the definitions that were put, the last one first, each once",
    breaks: (store) => altered(store, { listDefinitions: ({ limit: _, ...query } = {}) => store.listDefinitions!(query) }),
  },
  {
    name: "forgets one of those that are put at once",
    caughtBy: "library: what many put at once is listed, each once",
    breaks(store) {
      let listed: readonly string[] = [];
      return altered(store, {
        async putDefinition(hash, definition, options) {
          const read = listed;
          await store.putDefinition(hash, definition, options);
          listed = [...read, hash];
        },
        listDefinitions: async (query) => (await store.listDefinitions!(query)).filter(({ hash }) => listed.includes(hash)),
      });
    },
  },
  {
    name: "lists a definition under the hash that it is kept under",
    caughtBy: "library: a definition is listed under the hash that is said, or not at all",
    breaks: (store) => altered(store, { putDefinition: (hash, definition) => store.putDefinition(hash, definition) }),
  },
  {
    name: "publishes whatever is expected",
    caughtBy: "library: which definition is published changes only from the one that was expected",
    breaks: (store) => altered(store, { label: async (id, hash) => store.label!(id, hash, await publishedIn(store, id)) }),
  },
  {
    name: "keeps one published definition for all workflows",
    caughtBy: "library: which definition is published changes only from the one that was expected",
    breaks: (store) =>
      altered(store, {
        label: (_, hash, expected) => store.label!("all", hash, expected),
        async labels(ids) {
          const hash = await publishedIn(store, "all");
          return new Map(hash === null ? [] : ids.map((id) => [id, hash]));
        },
      }),
  },
  {
    name: "refuses to publish what is published",
    caughtBy: "library: publishing again what is published is acknowledged",
    breaks: (store) =>
      altered(store, {
        async label(id, hash, expected) {
          await requirePublished(store, id, expected);
          await store.label!(id, hash, expected);
        },
      }),
  },
  {
    name: "compares what is published before it publishes, and not when",
    caughtBy: "library: of many that publish at once one is told that it did",
    breaks: (store) =>
      altered(store, {
        async label(id, hash, expected) {
          await requirePublished(store, id, expected);
          let actual = await publishedIn(store, id);
          for (let isMade = false; !isMade; actual = await publishedIn(store, id)) {
            isMade = await store.label!(id, hash, actual).then(
              () => true,
              () => false,
            );
          }
        },
      }),
  },
];

async function publishedIn(store: SnapshotStore, id: string): Promise<string | null> {
  return (await store.labels!([id])).get(id) ?? null;
}

async function requirePublished(store: SnapshotStore, id: string, expected: string | null): Promise<void> {
  const actual = await publishedIn(store, id);
  if (actual !== expected) throw new StepfoldError("LABEL_CONFLICT", { workflow: id, expected, actual });
}
