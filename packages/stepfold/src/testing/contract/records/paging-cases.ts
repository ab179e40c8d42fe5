import type { ListQuery } from "../../../ports/execution-list.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal, holds, rejectsWith } from "../../expectations.ts";

/** What the pages of `list` promise. */
export const pagingCases: readonly ContractCase[] = [
  {
    name: "paging: all pages together are the list, whatever the limit",
    async run({ store, advance }) {
      const made: string[] = [];
      for (let index = 0; index < 23; index++) {
        if (index % 5 === 0) await advance(1);
        await store.create(startCommit(`id-${index}`));
        made.unshift(`id-${index}`);
      }
      for (const limit of [1, 2, 7, 22, 23, 24, 1000]) equal(await allPages(store, { limit }), made, `limit ${limit}`);
    },
  },
  {
    name: "paging: 50 by default",
    async run({ store }) {
      await Promise.all(Array.from({ length: 51 }, (_, index) => store.create(startCommit(`id-${index}`))));
      const { items, nextCursor } = await store.list();
      equal(items.length, 50, "items");
      holds(nextCursor !== null, "there is no cursor");
    },
  },
  {
    name: "paging: the last page has no cursor, also when it is full",
    async run({ store }) {
      for (const id of ["a", "b"]) await store.create(startCommit(id));
      equal((await store.list({ limit: 2 })).nextCursor, null, "cursor");
    },
  },
  {
    name: "paging: with filters",
    async run({ store }) {
      for (let index = 0; index < 12; index++) {
        await store.create(startCommit(`id-${index}`, { metadata: { even: index % 2 === 0 }, definitionId: index % 3 ? "x" : "y" }));
      }
      const query = { limit: 2, metadata: { even: true }, definitionId: "x" };
      equal(await allPages(store, query), ["id-10", "id-8", "id-4", "id-2"], "ids");
    },
  },
  {
    name: "paging: executions that come meanwhile do not repeat or hide others",
    async run({ store, advance }) {
      for (let index = 0; index < 6; index++) await store.create(startCommit(`id-${index}`));
      const first = await store.list({ limit: 2 });
      await store.create(startCommit("new-1"));
      await advance(3);
      await store.create(startCommit("new-2"));
      const rest = await allPages(store, { limit: 2, cursor: first.nextCursor! });
      equal(rest, ["id-3", "id-2", "id-1", "id-0"], "rest");
    },
  },
  {
    name: "paging: executions that go meanwhile do not repeat or hide others",
    async run({ store }) {
      for (let index = 0; index < 6; index++) await store.create(startCommit(`id-${index}`, { status: "completed" }));
      const first = await store.list({ limit: 2 });
      await store.delete("id-5");
      await store.delete("id-4");
      await store.delete("id-2");
      const rest = await allPages(store, { limit: 2, cursor: first.nextCursor! });
      equal(rest, ["id-3", "id-1", "id-0"], "rest");
    },
  },
  {
    name: "paging: executions that change meanwhile do not move",
    async run({ store, advance }) {
      const commits = Array.from({ length: 4 }, (_, index) => startCommit(`id-${index}`));
      for (const commit of commits) await store.create(commit);
      const first = await store.list({ limit: 2 });
      await advance(10);
      for (const commit of commits) await store.commit(stepCommit(commit));
      equal(await allPages(store, { limit: 2, cursor: first.nextCursor! }), ["id-1", "id-0"], "rest");
    },
  },
  {
    name: "paging: a cursor that the store did not give out is refused",
    async run({ store }) {
      for (const cursor of ["", "x", "1", "1.2.3", "null", "-", "'", "1e5.2", "{}", "\u0000"]) {
        equal((await rejectsWith("OPTION_INVALID", () => store.list({ cursor }))).option, "cursor", `option for ${cursor}`);
      }
    },
  },
];

async function allPages(store: SnapshotStore, query: ListQuery): Promise<string[]> {
  const ids: string[] = [];
  let cursor = query.cursor;
  for (let pages = 0; pages < 100; pages++) {
    const { items, nextCursor } = await store.list(cursor === undefined ? query : { ...query, cursor });
    ids.push(...items.map(({ workflowId }) => workflowId));
    if (nextCursor === null) return ids;
    cursor = nextCursor;
  }
  return [...ids, "and no end of pages"];
}
