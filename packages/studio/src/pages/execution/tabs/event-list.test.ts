import { eventSentences, trail } from "stepfold/core";
import { afterEach, describe, expect, it } from "vitest";
import { type History, order, parcels, second, startHistory } from "../../../../test/execution/history.fixture.ts";
import { EventList, matches, rowOfVersion } from "./event-list.ts";

let history: History;

afterEach(() => history.close());

describe("EventList", () => {
  it("tells each event once, in the engine's own words, and what it caused below it", async () => {
    history = await startHistory(order, { total: 1 });
    const list = new EventList();
    const early = await history.events();
    const before = list.take(early).length;
    await history.environment.advance(11 * second);
    const events = await history.events();
    const rows = list.take(events);
    expect(list.take(events)).toHaveLength(rows.length);
    expect(rows.length).toBeGreaterThan(before);
    expect(new Set(rows.map(({ event }) => event.version)).size).toBe(events.length);
    const places = trail();
    const told = events.flatMap((event) => eventSentences(event, places, null));
    for (const sentence of told) expect(rows.map((row) => row.sentence)).toContainEqual(sentence);
    expect(rows[0]).toMatchObject({ index: 0, sentence: { place: "started", parts: [{ text: "order begins at price" }] } });
  });

  it("finds the row of a version, and rows by text", async () => {
    history = await startHistory(parcels, { items: [1, 2] });
    await history.run.resume({ step: "pack[1]/ask", payload: { approved: true }, by: "bob" });
    await history.environment.settle();
    const events = await history.events();
    const rows = new EventList().take(events);
    for (const { version } of events) expect(rows[rowOfVersion(rows, version)]!.event.version).toBe(version);
    expect(rowOfVersion(rows, 999)).toBe(-1);
    expect(rows.filter((row) => matches(row, "BOB")).map(({ sentence }) => sentence.place)).toEqual(["pack[1]/ask"]);
    expect(rows.filter((row) => matches(row, "suspended"))).toHaveLength(2);
    expect(rows.filter((row) => matches(row, "(.*"))).toEqual([]);
  });

  it("tells events whose values are cut", async () => {
    history = await startHistory(order, { total: 1 });
    const events = (await history.events()).map((event) => ({ ...event, ...("output" in event && { output: { "~cut": 9 } }) }));
    expect(new EventList().take(events).length).toBeGreaterThanOrEqual(events.length);
  });
});
