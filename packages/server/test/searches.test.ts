import type { ExecutionSummary, ListQuery } from "stepfold";
import { describe, expect, it } from "vitest";
import { residualPage } from "../src/routes/residual-page.ts";
import { served } from "./served.fixture.ts";

const sees = { values: true, payloads: true };

const found = (n: number): ExecutionSummary =>
  ({ workflowId: `order-${n}`, createdAt: n, definition: { id: "order", hash: "" }, metadata: {} }) as unknown as ExecutionSummary;

describe("a search", () => {
  it("ends where the store has looked at as much as it may, and goes on from there", async () => {
    const asked: (string | undefined)[] = [];
    const list = async ({ cursor }: ListQuery = {}) => {
      asked.push(cursor);
      return { items: [], nextCursor: `${asked.length}` };
    };
    const first = await residualPage({ list }, {}, { q: "order" }, sees);
    expect([first.items, first.looked, first.complete, asked.length]).toEqual([[], 0, false, 1]);
    await residualPage({ list }, { cursor: first.nextCursor! }, { q: "order" }, sees);
    expect(asked).toEqual([undefined, "1"]);
  });

  it("finds nothing twice if very many executions begin between two pages", async () => {
    let all = Array.from({ length: 10 }, (_, index) => found(10 - index));
    const list = async ({ limit = 50, cursor = "0" }: ListQuery = {}) => {
      // a cursor of a store names the last row
      const begin = cursor === "0" ? 0 : all.findIndex(({ workflowId }) => workflowId === cursor) + 1;
      const items = all.slice(begin, begin + limit);
      return { items, nextCursor: begin + limit < all.length ? items.at(-1)!.workflowId : null };
    };
    const first = await residualPage({ list }, { limit: 4 }, { q: "order" }, sees);
    expect(first.items.map(({ createdAt }) => createdAt)).toEqual([10, 9, 8, 7]);
    all = [...Array.from({ length: 300 }, (_, index) => found(400 - index)), ...all];
    const second = await residualPage({ list }, { limit: 4, cursor: first.nextCursor! }, { q: "order" }, sees);
    expect(second.items.map(({ createdAt }) => createdAt)).toEqual([6, 5, 4, 3]);
  });

  it.each([
    "5",
    "1700000000000.1",
    "[]",
    "true",
    "{}",
    '"x"',
    "null",
  ])("does not begin anew with the cursor %s of something else", async (cursor) => {
    const given: unknown[] = [];
    const list = async (query: ListQuery = {}) => {
      given.push(query.cursor);
      return { items: [], nextCursor: null };
    };
    await residualPage({ list }, { cursor }, { q: "order" }, sees);
    expect(given).toEqual([cursor]);
  });
});

it("metadata that is asked for twice is refused, as every other key is", async () => {
  const { ask } = await served();
  const refused = await ask("/v1/executions?meta.shop=vienna&meta.shop=graz");
  expect([refused.status, refused.body.code, refused.body.details.option]).toEqual([400, "OPTION_INVALID", "meta.shop"]);
  expect((await ask("/v1/executions?meta.shop=vienna&meta.year=2026")).status).toBe(200);
});

it("a list of who waits says what is asked only to those who may see it", async () => {
  const approve = { id: "approve", type: "approval", data: { message: "Refund of {{ input }}?" } };
  const people = [
    { name: "reader", scopes: ["read"] },
    { name: "responder", scopes: ["read", "answer"] },
    { name: "viewer", scopes: ["read", "values"] },
  ] as const;
  const { ask, runtime } = await served({ people, workflows: [{ id: "refund", nodes: [approve], edges: [] }] });
  const run = await runtime.start("refund", { workflowId: "r-1", input: 40 });
  await runtime.advance(run.workflowId);
  const seen = async (as: string, path = "?waiting=any") => (await ask(`/v1/executions${path}`, { as })).body.items[0].asked;
  const wait = { id: expect.any(String), nodeId: "approve", kind: "external", openedAt: expect.any(Number) };
  const asked = { ...wait, payload: expect.objectContaining({ message: "Refund of 40?" }), schema: expect.any(Object) };
  expect(await seen("reader")).toEqual([wait]);
  expect(await seen("responder")).toEqual([asked]);
  expect(await seen("viewer")).toEqual([asked]);
  expect(await seen("viewer", "")).toBeUndefined();
});
