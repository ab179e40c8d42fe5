import { testRun } from "stepfold/testing";
import { describe, expect, it } from "vitest";
import { type Assistant, agent, type ToolCall } from "./agent.ts";
import { order, type Shop } from "./approval.ts";
import { etl, type Warehouse } from "./etl.ts";
import { type Services, saga } from "./saga.ts";

describe("an order that needs an approval", () => {
  const mails: string[] = [];
  const charged: { readonly total: number; readonly key: string }[] = [];
  const shop: Shop = {
    async charge({ total, key }) {
      charged.push({ total, key });
      return { receipt: `receipt of ${total}` };
    },
    async mail(to, text) {
      mails.push(`${to}: ${text}`);
    },
  };
  const ordered = (price: number) => ({ input: { customer: "ada", items: [{ sku: "x", price }] }, globals: { shop } });

  it("is charged at once if it is small", async () => {
    await using t = await testRun(order, ordered(20));
    expect([t.output, t.way]).toEqual([{ status: "paid", total: 20, receipt: "receipt of 20" }, ["charge", "thank"]]);
    expect(charged.splice(0)).toEqual([{ total: 20, key: expect.stringContaining("#") }]);
  });

  it("waits for an approval if it is large, and is charged once, also if its process dies", async () => {
    await using t = await testRun(order, ordered(200));
    expect(t.waits[0]).toMatchObject({ address: "approve", payload: { title: "Order over 200" } });
    await t.crash();
    await t.resume("approve", { approved: true });
    expect([t.output, charged.length]).toEqual([{ status: "paid", total: 200, receipt: "receipt of 200" }, 1]);
  });

  it("is rejected with the words of the one who decides, or after two days without a word", async () => {
    mails.length = 0;
    await using rejected = await testRun(order, ordered(200));
    await rejected.resume("approve", { approved: false, comment: "too much" });
    await using late = await testRun(order, ordered(300));
    await late.advance("2d");
    expect([rejected.output, late.output]).toEqual([
      { status: "rejected", total: 200 },
      { status: "rejected", total: 300 },
    ]);
    expect(mails).toEqual(["ada: too much", "ada: nobody has approved your order"]);
  });
});

describe("an agent", () => {
  /** A model that says one thing after the other, and tools that do as they are told. */
  function assistantThat(thinks: readonly (readonly ToolCall[])[], busy = 0): { readonly assistant: Assistant; readonly used: string[] } {
    const used: string[] = [];
    let failures = busy;
    const assistant: Assistant = {
      async think(messages) {
        if (failures-- > 0) throw new Error("the model is busy");
        const calls = thinks[messages.filter(({ role }) => role === "assistant").length] ?? [];
        return { text: calls.length > 0 ? "I need tools" : `answer after ${messages.length} messages`, calls, tokens: 100 };
      },
      async use({ tool, input }) {
        used.push(`${tool} ${input}`);
        return "done";
      },
    };
    return { assistant, used };
  }
  const searches = [
    { tool: "search", input: "trains" },
    { tool: "search", input: "hotels" },
  ];

  it("uses tools until it has an answer, and tries again while the model is busy", async () => {
    const { assistant, used } = assistantThat([searches], 2);
    await using t = await testRun(agent, { input: { task: "book a trip", tokens: 1_000 }, globals: { assistant } });
    await t.advance("10s");
    expect([t.output, used]).toEqual([{ text: "answer after 4 messages", left: 800 }, ["search trains", "search hotels"]]);
  });

  it("asks before it pays, and stops if it may not", async () => {
    const { assistant, used } = assistantThat([[{ tool: "pay", input: "90 EUR" }]]);
    const options = { input: { task: "book a trip", tokens: 1_000 }, globals: { assistant } };
    await using refused = await testRun(agent, options);
    await refused.resume("allow", { ok: false });
    expect([refused.output, used]).toEqual([{ text: "not allowed", left: 900 }, []]);
    await using allowed = await testRun(agent, options);
    await allowed.resume("allow", { ok: true });
    expect([allowed.status, used]).toEqual(["completed", ["pay 90 EUR"]]);
  });

  it("ends when its budget is used up", async () => {
    const { assistant } = assistantThat(Array.from({ length: 100 }, () => searches));
    await using t = await testRun(agent, { input: { task: "dream", tokens: 250 }, globals: { assistant } });
    expect([t.output, t.calls("think").length]).toEqual([{ text: "out of budget", left: 0 }, 3]);
  });
});

describe("the loading of many pages", () => {
  const urls = Array.from({ length: 200 }, (_, nth) => `https://example.org/${nth}`);

  it("tries again, and leaves out what cannot be loaded", async () => {
    const tries = new Map<string, number>();
    const rows = new Map<string, number>();
    const warehouse: Warehouse = {
      async fetch(url) {
        const nth = (tries.get(url) ?? 0) + 1;
        tries.set(url, nth);
        if (url.endsWith("7") && nth < 3) throw new Error("try later");
        if (url.endsWith("13")) throw new Error("gone");
        return "x".repeat(10);
      },
      async store({ url, bytes }) {
        rows.set(url, bytes);
      },
    };
    await using t = await testRun(etl, { input: { urls }, globals: { warehouse } });
    await t.advance("5s");
    expect([t.output, rows.size]).toEqual([{ pages: 198, bytes: 1_980 }, 198]);
  });
});

describe("an order in three steps", () => {
  /** Services that keep what they have done under each key. */
  function services(broken: "none" | "ship") {
    const made = new Map<string, string>();
    const undone: string[] = [];
    const make = async <T>(what: string, key: string, result: T): Promise<T> => {
      if (what === broken) throw new Error("no parcel service today");
      made.set(key, what);
      return result;
    };
    const all: Services = {
      reserve: (item, key) => make("reserve", key, { reservation: `reservation of ${item}` }),
      charge: (card, key) => make("charge", key, { receipt: `receipt of ${card}` }),
      ship: (reservation, key) => make("ship", key, { parcel: `parcel with ${reservation}` }),
      async undo(request, key) {
        if (made.get(key) === request) undone.push(request);
      },
    };
    return { services: all, undone };
  }
  const input = { item: "book", card: "visa" };

  it("is done", async () => {
    await using t = await testRun(saga, { input, globals: services("none") });
    expect(t.output).toEqual({ receipt: "receipt of visa", parcel: "parcel with reservation of book" });
  });

  it("is undone, the newest first, if it cannot be shipped", async () => {
    const globals = services("ship");
    await using t = await testRun(saga, { input, globals });
    await t.advance("1h");
    expect([t.status, t.calls("ship").length, globals.undone]).toEqual(["failed", 5, ["charge", "reserve"]]);
  });

  it("is undone if it is cancelled", async () => {
    const globals = services("ship");
    await using t = await testRun(saga, { input, globals });
    await t.cancel();
    expect([t.status, globals.undone]).toEqual(["cancelled", ["charge", "reserve"]]);
  });
});
