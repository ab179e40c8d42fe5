import { testRun } from "stepfold/testing";
import { describe, expect, it } from "vitest";
import { bankFor } from "./bank.fixture.ts";
import { subscription } from "./in-code.ts";

/** Starts a subscription. The bank declines the card "bad", and the first `failingRefunds` refunds fail. */
async function subscribed(card: string, { failingRefunds = 0 } = {}) {
  const { bank, charges, refunds } = bankFor(failingRefunds);
  const t = await testRun(subscription, { input: { card, price: 20 }, globals: { bank } });
  return { t, charges, refunds };
}

describe("a subscription as code", () => {
  it("takes the latest card, and counts from nothing again once it was paid", async () => {
    const { t, charges } = await subscribed("bad");
    await t.advance("18d");
    expect(charges).toHaveLength(2);
    await t.signal("card", "good");
    expect(charges.map(({ card }) => card)).toEqual(["bad", "bad", "good"]);
    await t.signal("card", "bad");
    await t.advance("34d");
    expect([charges.length, t.status]).toEqual([5, "paused"]);
    expect(new Set(charges.map(({ key }) => key)).size).toBe(5);
    await t.close();
  });

  it("ends when three payments in a row have failed", async () => {
    const { t, charges } = await subscribed("bad");
    await t.advance("21d");
    expect([t.output, charges.length]).toEqual([{ ended: "not paid", months: 0 }, 3]);
    await t.close();
  });

  it("gives the last month back when it is cancelled, however often the bank does not answer", async () => {
    const { t, refunds } = await subscribed("good", { failingRefunds: 4 });
    await t.advance("50d");
    await t.signal("cancel", null);
    await t.advance("2d");
    expect([t.output, refunds.length]).toEqual([{ ended: "cancelled", months: 2 }, 5]);
    expect(new Set(refunds.map(({ key }) => key)).size).toBe(1);
    await t.close();
  });

  it("that was never paid is cancelled without that, and a signal that comes while it is charged counts", async () => {
    const { t, refunds } = await subscribed("good");
    await t.advance("3d");
    await t.signal("cancel", null);
    expect([t.output, refunds]).toEqual([{ ended: "cancelled", months: 0 }, []]);
    await t.close();
  });

  it("holds no more after ten years than after one", async () => {
    const { t, charges } = await subscribed("good");
    await t.advance("365d");
    const { sizeBytes } = t.snapshot;
    await t.advance("3285d");
    expect(charges.length).toBeGreaterThan(120);
    expect(t.snapshot.sizeBytes).toBeLessThan(sizeBytes + 50);
    await t.close();
  });
});
