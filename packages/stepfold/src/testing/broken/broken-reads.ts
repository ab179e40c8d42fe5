import type { WorkflowDefinition } from "../../core/definition/definition.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import { isJsonObject, type Json } from "../../core/values/json.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import { altered, type BrokenStore } from "./broken-store.ts";
import { renamed } from "./renamed.ts";

/** Mistakes in reading, listing, deleting, pruning and closing, and in keeping definitions. */
export const brokenReads: readonly BrokenStore[] = [
  {
    name: "hands out its own objects",
    caughtBy: "load: changing what was loaded changes nothing that is stored",
    breaks(store) {
      const own = new Map<string, Snapshot>();
      return altered(store, {
        async load(workflowId) {
          const snapshot = await store.load(workflowId);
          if (!snapshot) return null;
          const mine = own.get(workflowId);
          if (mine?.version === snapshot.version && mine.incarnation === snapshot.incarnation) return mine;
          own.set(workflowId, snapshot);
          return snapshot;
        },
      });
    },
  },
  {
    name: "gives all that it has as the head",
    caughtBy: "load: the head alone, without input, history and children",
    breaks: (store) => altered(store, { loadHead: (workflowId) => store.load(workflowId) }),
  },
  {
    name: "sorts the keys of objects",
    caughtBy: "values: the order of keys stays",
    breaks: (store) => changingValues(store, (value) => (isJsonObject(value) ? sorted(value) : value)),
  },
  {
    name: "ends texts at their first zero",
    caughtBy: "values: control characters",
    breaks: (store) => changingValues(store, (value) => (typeof value === "string" ? value.split("\u0000")[0]! : value)),
  },
  {
    name: "gives empty arrays back as objects",
    caughtBy: "values: empty things",
    breaks: (store) => changingValues(store, (value) => (Array.isArray(value) && value.length === 0 ? {} : value)),
  },
  {
    name: "keeps numbers with 15 digits",
    caughtBy: "values: numbers at the edges",
    breaks: (store) => changingValues(store, (value) => (typeof value === "number" ? Number(value.toPrecision(15)) : value)),
  },
  {
    name: "gives the event of the version asked after, too",
    caughtBy: "events: the history after a version, oldest first",
    breaks: (store) => altered(store, { events: (id, afterVersion, limit) => store.events(id, afterVersion - 1, limit) }),
  },
  {
    name: "gives more events than asked for",
    caughtBy: "events: the history after a version, oldest first",
    breaks: (store) => altered(store, { events: (id, afterVersion) => store.events(id, afterVersion, 1000) }),
  },
  {
    name: "turns pages by counting",
    caughtBy: "paging: executions that come meanwhile do not repeat or hide others",
    breaks: pagingByOffset,
  },
  {
    name: "lists the oldest first",
    caughtBy: "list: newest first, also of those made in the same millisecond",
    breaks: (store) =>
      altered(store, {
        async list(query) {
          const page = await store.list(query);
          return { ...page, items: [...page.items].reverse() };
        },
      }),
  },
  {
    name: "compares metadata as text",
    caughtBy: "list: metadata values are equal only to values of the same type",
    breaks: comparingAsText,
  },
  {
    name: "lists the executions of every tenant",
    caughtBy: "list: a tenant's executions, and only these",
    breaks: (store) => altered(store, { list: ({ tenant: _, ...query } = {}) => store.list(query) }),
  },
  {
    name: "takes a filter of another form for none",
    caughtBy: "list: a filter of another form is refused",
    breaks: (store) =>
      altered(store, {
        list: ({ metadata, ...query } = {}) => store.list(isPlainFilter(metadata) ? { ...query, ...(metadata && { metadata }) } : query),
      }),
  },
  {
    name: "does not say which executions it prunes",
    caughtBy: "prune: names what it deletes, or would delete",
    breaks: (store) => altered(store, { prune: async (options) => ({ ...(await store.prune(options)), deleted: [] }) }),
  },
  {
    name: "reads a time to prune before as a number",
    caughtBy: "prune: what is of another form is refused, and nothing is deleted",
    breaks: (store) =>
      altered(store, { prune: (options) => store.prune({ ...options, before: Number.parseFloat(String(options.before)) || 2 ** 52 }) }),
  },
  {
    name: "ignores one filter when there are several",
    caughtBy: "list: filters together give what each of them gives",
    breaks: (store) =>
      altered(store, {
        list: (query = {}) => {
          const { definitionId: _, ...rest } = query;
          return store.list(rest.status ? rest : query);
        },
      }),
  },
  {
    name: "replaces definitions",
    caughtBy: "definitions: never change",
    breaks(store) {
      const latest = new Map<string, WorkflowDefinition>();
      return altered(store, {
        async putDefinition(hash, definition) {
          latest.set(hash, definition);
        },
        getDefinition: async (hash) => latest.get(hash) ?? null,
      });
    },
  },
  {
    name: "deletes without keeping the id",
    caughtBy: "delete: the id stays taken for the retention, then it is free",
    breaks(inner) {
      const { store, letGo } = renamed(inner);
      return altered(store, {
        async delete(workflowId) {
          await store.delete(workflowId);
          letGo(workflowId);
        },
      });
    },
  },
  {
    name: "deletes what has not ended",
    caughtBy: "delete: one that is active is refused and stays",
    breaks(inner) {
      const { store, letGo } = renamed(inner);
      return altered(store, {
        delete: (workflowId) =>
          store.delete(workflowId).catch((error: unknown) => {
            if (!StepfoldError.is(error, "EXECUTION_OPEN")) throw error;
            letGo(workflowId);
          }),
      });
    },
  },
  {
    name: "deletes for real in a dry run",
    caughtBy: "prune: a dry run counts the same and deletes nothing",
    breaks: (store) => altered(store, { prune: (options) => store.prune({ ...options, dryRun: false }) }),
  },
  {
    name: "prunes whatever its workflow",
    caughtBy: "prune: of one workflow definition, if asked so",
    breaks: (store) => altered(store, { prune: ({ definitionId: _, ...options }) => store.prune(options) }),
  },
  {
    name: "prunes whatever its age",
    caughtBy: "prune: only what was last changed before",
    breaks: (store) => altered(store, { prune: (options) => store.prune({ ...options, before: Number.MAX_SAFE_INTEGER }) }),
  },
  {
    name: "answers after it was closed",
    caughtBy: "close: safe twice; what is called after it is refused",
    breaks: (store) => altered(store, { close: async () => {} }),
  },
];

type Change = (value: Json) => Json;

/** Makes a store that changes every value of a loaded snapshot. */
function changingValues(store: SnapshotStore, change: Change): SnapshotStore {
  const all = (value: Json): Json => {
    if (Array.isArray(value)) return change((value as readonly Json[]).map(all));
    if (!isJsonObject(value)) return change(value);
    return change(Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, all(inner)])));
  };
  return altered(store, {
    async load(workflowId) {
      const snapshot = await store.load(workflowId);
      return snapshot && (all(snapshot as unknown as Json) as unknown as Snapshot);
    },
  });
}

const sorted = (value: { readonly [key: string]: Json }): Json =>
  Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));

function pagingByOffset(store: SnapshotStore): SnapshotStore {
  return altered(store, {
    async list({ cursor = "0", limit = 50, ...query } = {}) {
      const { items } = await store.list({ ...query, limit: 1000 });
      const end = Number(cursor) + limit;
      return { items: items.slice(Number(cursor), end), nextCursor: end < items.length ? String(end) : null };
    },
  });
}

function comparingAsText(store: SnapshotStore): SnapshotStore {
  return altered(store, {
    async list({ metadata = {}, ...query } = {}) {
      const page = await store.list(query);
      const wanted = Object.entries(metadata);
      return { ...page, items: page.items.filter((item) => wanted.every(([key, value]) => String(item.metadata[key]) === String(value))) };
    },
  });
}

function isPlainFilter(metadata: unknown): boolean {
  return metadata === undefined || Object.values(metadata ?? {}).every((value) => typeof value !== "object" || value === null);
}
