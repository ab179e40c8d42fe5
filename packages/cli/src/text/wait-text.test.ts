import { describe, expect, it } from "vitest";
import { type AnyWait, waitsText } from "./wait-text.ts";

const text = (...waits: readonly Partial<AnyWait>[]): string =>
  waitsText(waits.map((wait) => ({ kind: "external", ...wait })) as AnyWait[], 1_000);

describe("waitsText", () => {
  it("says what is wanted, from whom, and until when", () => {
    expect(text({ payload: [1] })).toBe("waits for an answer: [1]");
    expect(text({})).toBe("waits for an answer");
    expect(text({ payload: { type: "approval" } })).toBe("waits for an answer");
    expect(text({ responders: ["ada", "bob"], timeoutAt: 61_000 })).toBe("waits for an answer from ada or bob, for 1 min");
    expect(text({ kind: "timer", resumeAt: 3_500 })).toBe("waits 2.5 s");
    expect(text({ kind: "children", timeoutAt: 61_000 })).toBe("waits for its sub-workflow or its items, for 1 min");
    expect(text({ kind: "child", workflowId: "other" })).toBe("waits for the execution other");
  });

  it("says how many answers there are, and are to come", () => {
    const three = { responders: ["ada", "bob", "cy"], quorum: 2 };
    expect(text(three)).toBe("waits for 2 answers from ada, bob or cy");
    expect(text({ responders: three.responders, answered: ["ada"], missing: 1 })).toBe(
      "waits for 1 more answer from bob or cy (ada answered)",
    );
    expect(text({ quorum: 5, answers: [{ by: "ada", at: 1 }], missing: 4 })).toBe("waits for 4 more answers (ada answered)");
  });

  it("says what is in a race", () => {
    const waits = [
      { kind: "signal", signal: "paid", key: "o-1" },
      { kind: "signal", signal: "revoked" },
      { kind: "timer", resumeAt: 61_000 },
    ] as const;
    expect(text(...waits)).toBe('waits for the signal "paid" (key o-1) or the signal "revoked", at most 1 min');
  });

  it("lets nothing from outside reach the terminal", () => {
    expect(text({ kind: "signal", signal: "\u001b[31mx" }, { payload: { title: "a\u0007b" } })).toBe(
      'waits for the signal "x" or an answer: "a b"',
    );
  });
});
