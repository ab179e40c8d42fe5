import type { Event } from "stepfold";
import { compile, fold, type StartedEvent } from "stepfold/core";
import { expressionLanguage, loadFunctions } from "stepfold/expressions";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  flow,
  type History,
  loop,
  minute,
  order,
  parcels,
  realNow,
  second,
  startHistory,
} from "../../../test/execution/history.fixture.ts";
import { ReplayHistory } from "./replay-history.ts";

let history: History;

beforeAll(() => loadFunctions());
afterEach(() => history.close());

/** Folds everything that the store has. */
async function replayed(): Promise<{ replay: ReplayHistory; events: Event[] }> {
  const events = await history.events();
  const replay = new ReplayHistory();
  replay.add(events);
  for (const event of events)
    if ("definition" in event) replay.define(event.definition.hash, await history.definition(event.definition.hash));
  return { replay, events };
}

describe("ReplayHistory", () => {
  it("tells every version as the engine folds it", async () => {
    history = await startHistory(order, { total: 40 });
    await history.environment.advance(11 * second);
    await history.run.resume({ step: "approve", payload: { approved: true }, by: "ada" });
    await history.environment.settle();
    const { replay, events } = await replayed();
    expect(events.at(-1)).toMatchObject({ type: "completed", nodeId: "shipped" });
    const workflow = compile(order, expressionLanguage);
    for (const { version } of events) {
      const upTo = events.filter((event) => event.version <= version) as [StartedEvent, ...Event[]];
      expect(replay.snapshot(version)).toEqual(fold(workflow, upTo));
      expect(replay.state(version)?.folded?.status).toBe(fold(workflow, upTo).status);
    }
    // in any order: what is kept must not depend on what was asked before
    for (const { version } of events.toReversed()) expect(replay.state(version)?.version).toBe(version);
  });

  it("says what each node does, and why in the engine's own words", async () => {
    history = await startHistory(order, { total: 40 });
    const { replay } = await replayed();
    const state = replay.state(replay.version)!;
    expect([...state.nodes].map(([id, { status }]) => [id, status])).toEqual([
      ["price", "completed"],
      ["charge", "retrying"],
      ["approve", "paused"],
    ]);
    expect(state.nodes.get("charge")).toMatchObject({
      attempt: 1,
      error: { message: "503 Service Unavailable" },
      standing: { attempt: 2 },
    });
    expect(state.nodes.get("approve")?.standing?.until).toBe(history.environment.now() - 1 + 120 * minute);
    expect(state.folded?.explanation.places.map(({ sentence }) => sentence.split(",")[0])).toContain("waits for an answer from ada or bob");
  });

  it("waits for a definition, and goes on without one that cannot be had", async () => {
    history = await startHistory(order, { total: 40 });
    const events = await history.events();
    const { hash } = (events[0] as StartedEvent).definition;
    const replay = new ReplayHistory();
    replay.add(events);
    expect(replay.state(0)).toBeNull();
    replay.define(hash, null);
    const state = replay.state(replay.version)!;
    expect(state.folded).toBeNull();
    expect(replay.snapshot(replay.version)).toBeNull();
    expect(state.nodes.get("charge")?.status).toBe("retrying");
    expect(state.nodes.get("approve")?.status).toBe("paused");
    expect(state.nodes.get("price")?.status).toBe("completed");
  });

  it("does not fold with a definition that has another hash", async () => {
    history = await startHistory(order, { total: 40 });
    const events = await history.events();
    const replay = new ReplayHistory();
    replay.add(events);
    replay.define((events[0] as StartedEvent).definition.hash, loop);
    expect(replay.state(replay.version)).toMatchObject({ folded: null });
  });

  it("follows runs and restarts, and a history whose earlier runs were trimmed", async () => {
    const rounds = flow(
      "rounds",
      [
        { id: "ask", type: "approval", data: {} },
        { id: "again", type: "end", data: { continueAs: { input: { round: "{{ input.round + 1 }}" } } } },
        { id: "stop", type: "broken" },
      ],
      ["ask>again@approved", "ask>stop@rejected"],
    );
    history = await startHistory(rounds, { round: 1 });
    for (const approved of [true, true, false]) {
      await history.run.resume({ step: "ask", payload: { approved } });
      await history.environment.advance(2 * second);
    }
    await history.run.restart();
    await history.environment.advance(1);
    const { replay, events } = await replayed();
    const last = replay.state(replay.version)!;
    expect(last).toMatchObject({ run: 3, folded: { status: "failed", error: { code: "DECLINED", nodeId: "stop" } } });
    expect(last.nodes.get("ask")?.visits).toBe(1);
    expect(last.nodes.get("again")).toBeUndefined();
    expect(replay.state(events.find(({ type }) => type === "continued")!.version - 1)).toMatchObject({ run: 1 });

    const third = events.findLast(({ type }) => type === "continued")!;
    const trimmed = new ReplayHistory();
    trimmed.define((events[0] as StartedEvent).definition.hash, rounds);
    trimmed.add(events.filter(({ version }) => version === 0 || version >= third.version));
    expect(trimmed.state(replay.version)).toEqual(last);
    // a version that is missing is told as the one before it
    expect(trimmed.state(third.version - 1)?.version).toBe(0);
  });

  it("folds a large execution from a snapshot near the version: no step is much dearer than another", async () => {
    history = await startHistory(loop, { rounds: 2_200 });
    const { replay, events } = await replayed();
    expect(events.length).toBeGreaterThan(4_000);
    const cost = (from: number): number => {
      const begun = realNow();
      for (let version = from; version < from + 40; version += 7) expect(replay.state(version)?.version).toBe(version);
      return realNow() - begun;
    };
    for (const warm of [100, 4_000]) cost(warm);
    const best = (from: number): number => Math.min(...[0, 1, 2, 3, 4].map((round) => cost(from + round * 41)));
    const early = best(200);
    expect(best(4_000)).toBeLessThan(Math.max(3 * early, 60));
    expect(replay.state(replay.version)?.nodes.get("count")?.visits).toBe(2_200);
  });

  it("counts the items of a map at the map, and keeps them apart from its own nodes", async () => {
    history = await startHistory(parcels, { items: [1, 2, 3, 4, 5, 6] });
    await history.run.resume({ step: "pack[0]/ask", payload: { approved: true } });
    await history.environment.settle();
    const { replay } = await replayed();
    const { nodes } = replay.state(replay.version)!;
    expect([...nodes.keys()]).toEqual(["pack"]);
    expect(nodes.get("pack")).toMatchObject({
      status: "active",
      items: 6,
      standing: { items: { total: 6, done: 1, waiting: 5, concurrency: 4 } },
    });
  });
});
