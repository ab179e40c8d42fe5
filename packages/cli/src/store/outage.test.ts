import { StepfoldError } from "stepfold";
import { describe, expect, it } from "vitest";
import { outageOf } from "./outage.ts";

const away = new StepfoldError("STORE_UNAVAILABLE", { store: "sqlite", reason: "the disk is full" });

describe("an outage of the database", () => {
  it("is waited out, and says why", () => {
    const failed: unknown[] = [];
    const outage = outageOf(
      30_000,
      (error) => failed.push(error),
      () => 0,
    );
    outage.tell(away);
    expect(outage.reason()).toContain("the disk is full");
    expect(outage.over(7)).toBe(7);
    expect(outage.reason()).toBe(null);
    expect(failed).toEqual([]);
  });

  it("ends the command when it lasts, counted from when it began", () => {
    let now = 0;
    const failed: unknown[] = [];
    const outage = outageOf(
      30_000,
      (error) => failed.push(error),
      () => now,
    );
    outage.tell(away);
    now = 29_000;
    outage.tell(away);
    outage.over(null);
    now = 50_000;
    outage.tell(away);
    expect(failed).toEqual([]);
    now = 81_000;
    outage.tell(away);
    expect(failed).toEqual([away]);
  });

  it("is not what a definition without its node types is", () => {
    const failed: unknown[] = [];
    const broken = new StepfoldError("NODE_TYPE_UNKNOWN", { nodeId: "a", type: "x", known: [] });
    outageOf(30_000, (error) => failed.push(error)).tell(broken);
    expect(failed).toEqual([broken]);
  });
});
