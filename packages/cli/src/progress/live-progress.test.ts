import type { ActivePath, Event, Snapshot } from "stepfold";
import { describe, expect, it } from "vitest";
import { engineOf, flow, played } from "../../test/flow.fixture.ts";
import type { CommandContext } from "../execution/next-command.ts";
import { plainPaint } from "../text/paint.ts";
import { terminalText } from "../text/terminal.ts";
import { liveProgress } from "./live-progress.ts";
import type { Progress } from "./progress.ts";

const context: CommandContext = { program: ["stepfold"], flags: [], workflow: null, resumeSchema: () => undefined, user: "ada" };

/** A fake terminal that understands the few control codes that the view uses, and returns what a person would see. */
function fakeTerminal(rows = 24): { view: Progress; screen: () => string[]; tick: (ms: number) => void; ticking: () => boolean } {
  let now = 10_000;
  let lines = [""];
  let tick: (() => void) | null = null;
  const write = (text: string): void => {
    for (const part of terminalText(text)
      .replaceAll("\u001b", "␛")
      .match(/␛\[\??\d+[A-Za-z]|\r|\n|[^␛\r\n]+/g) ?? []) {
      const up = /^␛\[(\d+)A$/.exec(part);
      // after the cursor has moved up, the view always erases everything below it
      if (up) lines = [...lines.slice(0, lines.length - 1 - Number(up[1])), ""];
      else if (part === "\n") lines.push("");
      else if (!/^[\r␛]/.test(part)) lines[lines.length - 1] += part;
    }
  };
  const every = (_ms: number, again: () => void): (() => void) => {
    tick = again;
    return () => {
      tick = null;
    };
  };
  const view = liveProgress({ write, say: write, now: () => now, rows: () => rows, every }, context, { paint: plainPaint, nodeWidth: 6 });
  return {
    view,
    screen: () => lines.filter(Boolean),
    tick: (ms) => {
      now += ms;
      tick?.();
    },
    ticking: () => tick !== null,
  };
}

const step = { pathId: "0", turn: 1, nodeId: "charge", attempt: 1, startedAt: 10_000, at: 10_012, version: 1 };
const snapshot = (...activePaths: readonly Partial<ActivePath>[]): Snapshot =>
  ({
    workflowId: "o-1",
    definition: { id: "order" },
    status: "active",
    version: 1,
    context: {},
    activePaths,
    createdAt: 10_000,
  }) as unknown as Snapshot;
const path = (more: Partial<ActivePath>): Partial<ActivePath> => ({
  id: "0",
  nodeId: "charge",
  turn: 1,
  attempts: 0,
  status: "ready",
  ...more,
});

describe("liveProgress", () => {
  it("keeps what happened, and redraws what happens below it", () => {
    const { view, screen, tick, ticking } = fakeTerminal();
    view.begin(snapshot(path({})), false);
    expect(screen()).toEqual(["o-1  order", "⠋ charge"]);
    tick(1_200);
    expect(screen()).toEqual(["o-1  order", "⠹ charge  1.2 s"]);
    const failed: Event = { ...step, type: "failed", error: { name: "Error", message: "no" }, retryAt: 12_012 };
    view.event(failed, snapshot(path({ status: "retrying", turn: 2, attempts: 1, nextRetryAt: 12_012 })));
    expect(screen()).toEqual(["o-1  order", "✖ charge  attempt 1  12 ms  no  retry in 2.0 s", "↻ charge  attempt 2  in 0.8 s"]);
    tick(500);
    expect(screen().at(-1)).toBe("↻ charge  attempt 2  in 0.3 s");
    view.note("somebody else has it");
    expect(screen().at(-1)).toBe("… somebody else has it");
    view.event({ ...step, type: "completed", output: 1, attempt: 2 }, snapshot());
    const end = { ...snapshot(), status: "completed" } as const;
    const said = { sentence: "Completed.", show: "stepfold show o-1", restart: null, interrupted: null };
    view.end({ snapshot: end, waits: [], ...said, at: 12_000, now: 12_000 });
    expect(screen()).toEqual([
      "o-1  order",
      "✖ charge  attempt 1  12 ms  no  retry in 2.0 s",
      "✔ charge  attempt 2  12 ms",
      "✔ o-1 completed in 2.0 s",
    ]);
    expect(ticking()).toBe(false);
  });

  it("keeps to the lines that the screen has, and counts what it leaves out", () => {
    const asking = Array.from({ length: 12 }, (_, i) =>
      path({ id: `0.${i}`, nodeId: `ask${i}`, status: "suspended", waits: [{ id: `0.${i}@2`, kind: "external" }] }),
    );
    const drawn = (rows: number): string[] => {
      const { view, screen } = fakeTerminal(rows);
      view.begin(snapshot(...asking), false);
      view.note("somebody else has it");
      return screen().slice(1);
    };
    expect(drawn(24)).toHaveLength(11 + 10 + 1);
    expect(drawn(24).slice(10, 12)).toEqual(["  and 2 more", "    stepfold resume o-1 --wait 0.0@2"]);
    expect(drawn(7)).toEqual([
      "⏸ ask0    waits for an answer",
      "⏸ ask1    waits for an answer",
      "  and 10 more",
      "    stepfold resume o-1 --wait 0.0@2",
      "    and 9 more",
      "… somebody else has it",
    ]);
    expect(drawn(2)).toEqual(["… somebody else has it"]);
  });

  it("counts the commands that it does not show", () => {
    const { view, screen } = fakeTerminal(50);
    const waits = Array.from({ length: 12 }, (_, i) => ({ id: i === 0 ? "0@2" : `0@2.${i}`, kind: "external" as const }));
    view.begin(snapshot(path({ nodeId: "ask", status: "suspended", waits })), false);
    expect(screen()).toHaveLength(2 + 10 + 1);
    expect(screen().at(-1)).toBe("    and 2 more");
  });

  it("goes on counting the time of a path that was not shown for a while", () => {
    const { view, screen, tick } = fakeTerminal();
    const slow = path({ id: "1", nodeId: "slow" });
    const done = (version: number): Event => ({ ...step, type: "completed", output: 1, version });
    view.begin(snapshot(slow), false);
    tick(2_000);
    const asking = Array.from({ length: 10 }, (_, i) =>
      path({ id: `0.${i}`, nodeId: "ask", status: "suspended", waits: [{ id: `0.${i}@2`, kind: "external" }] }),
    );
    view.event(done(1), snapshot(...asking, slow));
    expect(screen().some((line) => line.includes("slow"))).toBe(false);
    tick(2_000);
    view.event(done(2), snapshot(slow));
    tick(0);
    expect(screen().at(-1)).toBe("⠋ slow    4.0 s");
  });

  it("shows how to answer while other paths go on, and not every path of many", () => {
    const { view, screen, tick } = fakeTerminal();
    const ask = path({ nodeId: "ask", status: "suspended", waits: [{ id: "0@2", kind: "external", payload: "Well?" }] });
    const timer = path({ id: "0.1", nodeId: "cool", status: "suspended", waits: [{ id: "0.1@2", kind: "timer", resumeAt: 13_000 }] });
    view.begin(snapshot(ask, timer), true);
    tick(1_000);
    expect(screen()).toEqual([
      "o-1  order  goes on from version 1, active",
      '⏸ ask     waits for an answer: "Well?"',
      "⧗ cool    goes on in 2.0 s",
      "    stepfold resume o-1 --wait 0@2",
    ]);
    view.event({ ...step, type: "completed", output: 1 }, snapshot(...Array.from({ length: 40 }, (_, i) => path({ id: `0.${i}` }))));
    expect(screen()).toHaveLength(2 + 10 + 1);
    expect(screen().at(-1)).toBe("  and 30 more");
    view.close();
    expect(screen()).toHaveLength(2);
  });

  it("tells of a map of 1,000 items in a few lines, and stays quick", async () => {
    const inner = flow("inner", { calc: ["set", { x: 1 }], q: ["if", { condition: "{{ input % 300 == 0 }}" }], ask: "approval" }, [
      "calc>q",
      "q>ask@true",
    ]);
    const each = flow("w", { each: ["map", { workflow: "inner", items: "{{ input }}" }] }, [], { workflows: { inner } });
    const told = await played(
      engineOf(each),
      Array.from({ length: 1_000 }, (_, i) => i),
    );
    const { view, screen, tick } = fakeTerminal();
    view.begin(told[0]!.snapshot, false);
    let most = 0;
    for (const [i, { event, snapshot: after }] of told.entries()) {
      view.event(event, after);
      if (i % 500 === 0) tick(100);
      most = Math.max(most, screen().length);
    }
    tick(100);
    expect(most).toBeLessThan(20);
    expect(screen()).toEqual([
      "one  w",
      "⑂ each    runs inner for 1000 items, 16 at once",
      "⑂ each    996 of 1,000 items done, 4 wait for an answer",
      "⏸ each[0]/ask  waits for an answer",
      "⏸ each[300]/ask  waits for an answer",
      "⏸ each[600]/ask  waits for an answer",
      "⏸ each[900]/ask  waits for an answer",
      ...[0, 300, 600, 900].map((i) => `    stepfold resume one --wait '0#1/${i}>0@4' --payload '{"approved":true}'`),
    ]);
  }, 30_000);
});
