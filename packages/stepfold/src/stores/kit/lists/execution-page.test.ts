import { describe, expect, it } from "vitest";
import type { Json } from "../../../core/values/json.ts";
import type { ListQuery } from "../../../ports/execution-list.ts";
import { checkedQuery } from "./checked-query.ts";
import { executionPage, isDecidedByLabels, pageQueryOf, shortHead, summaryOf } from "./execution-page.ts";
import type { ListedPart, ListedRow, PageQuery } from "./list-table.ts";

const row = (seq: number, metadata: Readonly<Record<string, Json>>): ListedRow => ({
  ...{
    id: `id-${seq}`,
    seq,
    incarnation: "i",
    version: 0,
    sizeBytes: 1,
    runSince: null,
    trimmed: 0,
    status: "paused",
    wakeAt: null,
    dueAt: null,
    owner: null,
    fence: 0,
  },
  ...{ crashes: 0, permit: null, exemptAt: null, deletedAt: null, createdAt: 1, updatedAt: 1, definition: '{"id":"d","hash":"h"}' },
  ...{ metadata: JSON.stringify(metadata), head: '{"currentNodeId":null,"waiting":null,"error":null,"steps":0}' },
});

/** A table of `count` rows, each with its number `n` in its metadata. It ignores the conditions of a query. */
function tableOf(count: number): { readonly asked: number[]; readonly page: (query: PageQuery) => Promise<ListedPart> } {
  const asked: number[] = [];
  return {
    asked,
    async page({ after, limit }) {
      asked.push(limit);
      const from = after ? after.seq + 1 : 0;
      const rows = Array.from({ length: Math.min(limit, count - from) }, (_, index) => row(from + index, { n: from + index }));
      return { rows, next: from + rows.length < count ? { createdAt: 1, seq: from + rows.length - 1 } : null };
    },
  };
}

const idsOf = async (query: ListQuery, { page }: Pick<ReturnType<typeof tableOf>, "page">) => {
  const { items, nextCursor } = await executionPage(checkedQuery(query), page);
  return { ids: items.map(({ workflowId }) => workflowId), nextCursor };
};

describe("what is asked", () => {
  const path = { id: "0", nodeId: "ask", status: "suspended", waits: [{ id: "0@1", kind: "external", payload: 7 }] };
  const head = JSON.stringify({ currentNodeId: "ask", activePaths: [path], steps: 1 });
  const asked = [{ nodeId: "ask", id: "0@1", kind: "external", payload: 7 }];

  it.each([
    ["of a whole head", head],
    ["of a short head, for a table in which whole heads cost more", shortHead(head)],
  ])("is in a list that asks for it: %s", (_, text) => {
    const listed = { ...row(0, {}), head: text };
    expect(summaryOf(listed, true)).toMatchObject({ asked, waiting: { nodeId: "ask", count: 1 } });
    expect(summaryOf(listed)).toMatchObject({ waiting: { nodeId: "ask", count: 1 } });
    expect(summaryOf(listed)).not.toHaveProperty("asked");
  });

  it("is missing in a short head that an earlier version has written", () => {
    expect(summaryOf(row(0, {}), true)).not.toHaveProperty("asked");
  });
});

describe("a page by bounds of metadata", () => {
  it("looks at a bounded number of rows, and the next one goes on after them", async () => {
    const table = tableOf(50_000);
    const found: string[] = [];
    let pages = 0;
    for (let cursor: string | null | undefined; cursor !== null; pages++) {
      const before = table.asked.length;
      const { ids, nextCursor } = await idsOf({ metadata: { n: { gte: 49_998 } }, limit: 5, ...(cursor && { cursor }) }, table);
      expect(table.asked.slice(before).reduce((sum, limit) => sum + limit, 0)).toBeLessThanOrEqual(21_000);
      found.push(...ids);
      cursor = nextCursor;
    }
    expect([found, pages]).toEqual([["id-49998", "id-49999"], 3]);
    expect(Math.max(...table.asked)).toBeLessThanOrEqual(1_000);
  });

  it("is full where there are enough, and gives each once", async () => {
    const first = await idsOf({ metadata: { n: { gt: 3, lt: 7 } }, limit: 2 }, tableOf(20));
    expect(first.ids).toEqual(["id-4", "id-5"]);
    const second = await idsOf({ metadata: { n: { gt: 3, lt: 7 } }, limit: 2, cursor: first.nextCursor! }, tableOf(20));
    expect(second).toEqual({ ids: ["id-6"], nextCursor: null });
  });

  it("asks the table for equal values only, and no table counts it by labels", () => {
    const labels = (query: ListQuery): readonly string[] => pageQueryOf(checkedQuery(query)).labels;
    expect(labels({ metadata: { a: 1, b: { gt: 1 } }, waiting: { openedBefore: 5 } })).toEqual(labels({ metadata: { a: 1 } }));
    const queries: readonly ListQuery[] = [
      ...[{}, { metadata: { a: 1 } }, { waiting: { kind: "external" } as const }, { metadata: { b: { gt: 1 } } }],
      ...[{ waiting: { kind: "external", openedBefore: 5 } as const }, { waiting: { openedAfter: 5 } }],
    ];
    expect(queries.map((query) => isDecidedByLabels(checkedQuery(query)))).toEqual([true, true, true, false, false, false]);
  });
});
