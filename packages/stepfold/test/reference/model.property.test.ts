import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tries } from "../../../../scripts/test/effort.ts";
import { Model } from "./model.fixture.ts";
import { brokenLaws, endState, isOver, overruns } from "./model-laws.fixture.ts";
import { randomGraph } from "./random-graph.fixture.ts";
import { RandomSchedule } from "./random-schedule.fixture.ts";

const seeds = fc.integer({ min: 0, max: 2 ** 31 - 1 });

/** Runs a model under a schedule, with a check before every event, for at most 120 events and until more than 40 paths are open. */
function run(model: Model, schedule: RandomSchedule, check: (model: Model) => void = () => {}): void {
  for (let left = 120; left > 0 && model.paths().length <= 40; left -= 1) {
    check(model);
    const next = schedule.next(model);
    if (!next) return;
    const before = JSON.stringify(model.world());
    const { version } = model;
    const accepted = model.apply(next.event);
    expect(accepted, JSON.stringify(next)).toBe(!next.stale);
    expect(model.version).toBe(next.stale ? version : version + 1);
    if (next.stale) expect(JSON.stringify(model.world())).toBe(before);
  }
}

describe("what docs/path-semantics.md says that tests hold, on the model itself", () => {
  it("hold after every event of every schedule", () => {
    const property = fc.property(seeds, seeds, (graph, outcomes) => {
      const names = new Set<string>();
      const definition = randomGraph(graph);
      const model = Model.start(definition);
      let known: string[] = [];
      run(model, new RandomSchedule(outcomes, { outcomes }), () => {
        // a path that is held again and becomes ready again keeps the name of its task
        const current = model.paths().map(({ chain, id, turn }) => `${chain}${id}@${turn}`);
        for (const name of current) expect(names.has(name) && !known.includes(name), `${name} again`).toBe(false);
        for (const name of known) names.add(name);
        known = current;
        expect(brokenLaws(model)).toEqual([]);
      });
    });
    fc.assert(property, { numRuns: tries(500) });
  });

  it("hold for an order of outcomes that does not matter: the end is the same", () => {
    const property = fc.property(seeds, seeds, fc.array(seeds, { minLength: 3, maxLength: 3 }), (graph, outcomes, orders) => {
      const definition = randomGraph(graph, { confluent: true, maxNodes: 7 });
      const ends = orders.map((order) => {
        const model = Model.start(definition);
        run(model, new RandomSchedule(order, { outcomes, stale: 0.05, interference: false, fatal: false }));
        return model;
      });
      fc.pre(ends.every((model) => isOver(model) && !overruns(model)));
      expect(new Set(ends.map((model) => JSON.stringify(endState(model)))).size).toBe(1);
    });
    fc.assert(property, { numRuns: tries(250) });
  });
});
