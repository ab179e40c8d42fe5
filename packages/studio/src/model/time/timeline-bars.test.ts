import { afterEach, describe, expect, it } from "vitest";
import { flow, type History, loop, order, parcels, second, startHistory } from "../../../test/execution/history.fixture.ts";
import { timeScale } from "./time-scale.ts";
import { TimelineBars } from "./timeline-bars.ts";
import { drawnBars, withRunning, withStopped } from "./timeline-rows.ts";

let history: History;

afterEach(() => history.close());

async function barsNow(): Promise<TimelineBars> {
  const bars = new TimelineBars();
  for (const event of await history.events()) bars.see(event);
  return bars;
}

const kinds = (bars: TimelineBars, nodeId: string): string[] =>
  bars.lines.find((line) => line.nodeId === nodeId)!.bars.map(({ kind, to }) => (to === null ? `${kind}…` : kind));

describe("TimelineBars", () => {
  it("tell attempts, the delay before the next one, and waits", async () => {
    history = await startHistory(order, { total: 1 });
    expect(kinds(await barsNow(), "charge")).toEqual(["failed", "delay…"]);
    expect(kinds(await barsNow(), "approve")).toEqual(["done", "waits…"]);
    await history.environment.advance(11 * second);
    const bars = await barsNow();
    expect(kinds(bars, "charge")).toEqual(["failed", "delay", "done"]);
    const [, delay, done] = bars.lines.find(({ nodeId }) => nodeId === "charge")!.bars;
    expect(delay!.to).toBe(done!.from);
    expect(bars.lines.map(({ nodeId }) => nodeId).slice(0, 2)).toEqual(["price", "charge"]);
  });

  it("keep a wait open that needs more answers", async () => {
    history = await startHistory(
      flow("votes", [{ id: "vote", type: "approval", data: { responders: ["ada", "bob", "cy"], quorum: 2 } }]),
      {},
    );
    await history.run.resume({ step: "vote", payload: { approved: true }, by: "ada" });
    expect(kinds(await barsNow(), "vote")).toEqual(["done", "waits…"]);
    await history.run.resume({ step: "vote", payload: { approved: true }, by: "bob" });
    await history.environment.settle();
    expect(kinds(await barsNow(), "vote")).toEqual(["done", "waits", "done"]);
  });

  it("show what runs inside a map as one bar", async () => {
    history = await startHistory(parcels, { items: [1, 2] });
    expect(kinds(await barsNow(), "pack")).toEqual(["done", "children…"]);
    for (const item of [0, 1]) await history.run.resume({ step: `pack[${item}]/ask`, payload: { approved: true } });
    await history.environment.settle();
    const bars = await barsNow();
    expect(kinds(bars, "pack")).toEqual(["done", "children"]);
    expect(bars.lines.map(({ nodeId }) => nodeId)).toEqual(["pack", "sent"]);
  });

  it("end with a cancellation, and go on with a restart", async () => {
    history = await startHistory(order, { total: 1 });
    await history.run.cancel({ reason: "no" });
    await history.environment.settle();
    expect(kinds(await barsNow(), "approve")).toEqual(["done", "waits"]);
    await history.run.restart();
    expect(kinds(await barsNow(), "approve")).toEqual(["done", "waits", "waits…"]);
  });
});

describe("drawnBars", () => {
  it("draws 2,000 visits as the few bars that can be told apart", async () => {
    history = await startHistory(loop, { rounds: 2_000 });
    const bars = await barsNow();
    const end = bars.end!;
    const scale = timeScale([], bars.begin!, end + 1);
    for (const line of bars.lines) {
      const drawn = drawnBars(line, { scale, end, widthPx: 800, most: 300 });
      expect(drawn.length).toBeLessThanOrEqual(300);
      expect(drawn.reduce((sum, { count }) => sum + count, 0)).toBe(line.bars.length);
    }
  });

  it("merges only what touches and is of one kind", () => {
    const bars = [
      { kind: "done", from: 0, to: 10 },
      { kind: "done", from: 10, to: 20 },
      { kind: "failed", from: 20, to: 21 },
      { kind: "done", from: 500, to: 510 },
      { kind: "waits", from: 600, to: null },
    ] as const;
    const drawn = drawnBars({ nodeId: "a", bars, attempts: 4 }, { scale: timeScale([], 0, 1_000), end: 1_000, widthPx: 500, most: 100 });
    expect(drawn.map(({ kind, count, isOpen }) => [kind, count, isOpen])).toEqual([
      ["done", 2, false],
      ["failed", 1, false],
      ["done", 1, false],
      ["waits", 1, true],
    ]);
    expect(drawn[0]).toMatchObject({ left: 0, ms: 20 });
    expect(drawn.at(-1)!.left + drawn.at(-1)!.width).toBeCloseTo(1);
  });
});

describe("withStopped", () => {
  it("draws what ran until the end, in its place, and nothing that events tell of", () => {
    const lines = [
      { nodeId: "a", bars: [{ kind: "done", from: 0, to: 1 } as const, { kind: "done", from: 9, to: 9 } as const], attempts: 2 },
    ];
    const stopped = [
      { nodeId: "a", from: 2, to: 8, ran: true },
      { nodeId: "b", from: 3, to: 8, ran: true },
      { nodeId: "c", from: 3, to: 8, ran: false },
    ];
    expect(withStopped(lines, stopped).map(({ nodeId, bars }) => [nodeId, ...bars.map(({ kind, to }) => `${kind} ${to}`)])).toEqual([
      ["a", "done 1", "stopped 8", "done 9"],
      ["b", "stopped 8"],
    ]);
  });
});

describe("withRunning", () => {
  it("draws what runs from its arrival, unless its line tells already what goes on", () => {
    const lines = [
      { nodeId: "a", bars: [{ kind: "done", from: 0, to: 1 } as const], attempts: 1 },
      { nodeId: "b", bars: [{ kind: "waits", from: 0, to: null } as const], attempts: 1 },
    ];
    const now = new Map([
      ["a", 5],
      ["b", 5],
      ["c", 7],
    ]);
    const told = withRunning(lines, now).map(({ nodeId, bars }) => [nodeId, ...bars.map(({ kind }) => kind)]);
    expect(told).toEqual([
      ["a", "done", "running"],
      ["b", "waits"],
      ["c", "running"],
    ]);
  });
});
