import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tries } from "../../../../scripts/test/effort.ts";
import { readSnapshot } from "../../src/core/reading/read-snapshot.ts";
import { Engine, engineHash } from "../reference/lockstep.fixture.ts";
import { Model } from "../reference/model.fixture.ts";
import { randomGraph } from "../reference/random-graph.fixture.ts";
import { RandomSchedule } from "../reference/random-schedule.fixture.ts";

const seeds = fc.integer({ min: 0, max: 2 ** 30 });
const maxEvents = 60;

describe("readSnapshot", () => {
  it("gives back every snapshot of a random execution just as it was: with joins, waits, maps, children, compensations", {
    timeout: 30_000,
  }, () => {
    const seen = { children: 0, maps: 0, undoing: 0, undoingChildren: 0, joining: 0, rounds: 0, kept: 0, queued: 0 };
    const property = fc.property(seeds, seeds, (graph, schedule) => {
      const definition = randomGraph(graph);
      const model = Model.start(definition, { hashId: engineHash });
      const engine = new Engine(definition);
      const events = new RandomSchedule(schedule, { outcomes: schedule });
      for (let i = 0; i < maxEvents; i++) {
        const { snapshot } = engine;
        expect(readSnapshot(snapshot, engine.workflow)).toEqual(snapshot);
        const children = Object.values(snapshot.childStates ?? {});
        const paths = [snapshot, ...children].flatMap(({ activePaths }) => activePaths);
        if (children.length > 0) seen.children++;
        if (children.some(({ kept }) => kept)) seen.kept++;
        if (children.some(({ queued }) => queued !== undefined)) seen.queued++;
        if (snapshot.mapItems) seen.maps++;
        if (snapshot.rounds) seen.rounds++;
        if (paths.some(({ status }) => status === "joining")) seen.joining++;
        if (paths.some(({ undoes }) => undoes)) seen.undoing++;
        if (paths.some(({ undoes }) => undoes?.scope !== undefined)) seen.undoingChildren++;
        const next = events.next(model);
        if (!next) break;
        model.apply(next.event);
        engine.apply(next.event);
      }
    });
    fc.assert(property, { numRuns: tries(200) });
    // random runs do not always meet the rarest features, so 6 of the 8 are enough
    expect(Object.values(seen).filter((times) => times > 0).length).toBeGreaterThanOrEqual(6);
  });
});
