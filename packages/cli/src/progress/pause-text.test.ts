import type { Snapshot, WaitInfo } from "stepfold";
import { describe, expect, it } from "vitest";
import { plainPaint } from "../text/paint.ts";
import { pauseText } from "./pause-text.ts";

const wait = (i: number): { wait: WaitInfo; command: string } => ({
  wait: { id: `0>${i}@2`, address: `each[${i}]/ask`, nodeId: "ask", kind: "external", payload: { title: `Post ${i}` }, answer: null },
  command: `stepfold resume one --step 'each[${i}]/ask'`,
});
const timer = { wait: { ...wait(0).wait, kind: "timer" as const }, command: null };
const text = (waits: Parameters<typeof pauseText>[0]["waits"], status = "paused"): string[] => {
  const snapshot = { workflowId: "one", status } as Snapshot;
  const sentence = "ask waits until 2026-01-31T09:00:00.000Z.";
  const now = Date.parse("2026-01-31T08:59:00.000Z");
  const outcome = { snapshot, waits, sentence, show: "stepfold show one", restart: null, interrupted: null, at: null, now };
  return pauseText(outcome, plainPaint).split("\n");
};

describe("pauseText", () => {
  it("says where an execution stands, and the one command there is", () => {
    expect(text([timer, wait(1)])).toEqual([
      "",
      "⏸ one is paused: ask waits until 2026-01-31T09:00:00Z (in 1 min).",
      "",
      "  stepfold resume one --step 'each[1]/ask'",
      "",
    ]);
    expect(text([timer], "error")).toEqual(["", "⏸ one waits: ask waits until 2026-01-31T09:00:00Z (in 1 min).", ""]);
  });

  it("lists several with what they ask, and of very many the first", () => {
    expect(text([wait(1), wait(2)]).slice(2)).toEqual([
      "",
      '  each[1]/ask  an answer: "Post 1"',
      "    stepfold resume one --step 'each[1]/ask'",
      '  each[2]/ask  an answer: "Post 2"',
      "    stepfold resume one --step 'each[2]/ask'",
      "",
    ]);
    const many = text(Array.from({ length: 1_000 }, (_, i) => wait(i)));
    expect(many).toHaveLength(26);
    expect(many.slice(-3)).toEqual(["  and 990 more; this lists them:", "    stepfold show one", ""]);
  });
});
