import fc from "fast-check";
import { expect, it } from "vitest";
import { effort } from "../../../../scripts/test/effort.ts";
import { openScopes } from "../../src/core/snapshot/address.ts";
import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";
import { expectEqual } from "../testing/expect-equal.fixture.ts";
import { Engine, engineHash } from "./lockstep.fixture.ts";
import { Model } from "./model.fixture.ts";
import { brokenLaws } from "./model-laws.fixture.ts";
import { withoutCompensations } from "./model-lives.fixture.ts";
import { chance, pick, randomGraph } from "./random-graph.fixture.ts";
import { RandomSchedule } from "./random-schedule.fixture.ts";

const maxEvents = 60;
const seeds = fc.integer({ min: 0, max: 2 ** 30 });

/** Describes every open path of a snapshot by the properties that the engine and the model both have. */
function pathsOf(snapshot: Snapshot): string[] {
  const paths = [...openScopes(snapshot)].flatMap(([scope, open]) =>
    open
      .filter(({ undoes }) => !undoes)
      .map(({ id, nodeId, status, turn, visit, draining = false, waves = {}, waits = [], via = null }) => {
        // the turn of the model rises with the retry, the turn of the engine already when the attempt before the retry fails
        const since = status === "retrying" ? turn - 1 : turn;
        return describePath({
          at: scope === "" ? id : `${scope}>${id}`,
          nodeId,
          status,
          turn: since,
          visit,
          draining,
          waves,
          waits: waits.length,
          via,
        });
      }),
  );
  return paths.sort();
}

function modelPathsOf(model: Model): string[] {
  return model
    .paths()
    .map(({ chain, id, nodeId, status, turn, visit, draining, waves, waits, via }) => {
      const came = status === "joining" ? via : null;
      return describePath({ at: chain + id, nodeId, status, turn, visit, draining, waves, waits: waits.length, via: came });
    })
    .sort();
}

function describePath(path: {
  at: string;
  nodeId: string;
  status: string;
  turn: number;
  visit: number;
  draining: boolean;
  waves: Readonly<Record<string, string>>;
  waits: number;
  via: string | null;
}): string {
  const { at, nodeId, status, turn, visit, draining, waves, waits, via } = path;
  const sorted = Object.entries(waves).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([at, nodeId, status, turn, visit, draining, draining ? [] : sorted, waits, status === "joining" ? via : null]);
}

/** Maps `error` to `paused`, because the engine and the model do not choose between them in the same way when children wait or retry. */
function seen(status: Snapshot["status"]): string {
  return status === "error" ? "paused" : status;
}

function standing(snapshot: Snapshot): unknown {
  const { status, rounds = {}, inbox = [], error, ending, version } = snapshot;
  // the model has no error for a compensation that failed
  const failed = ![undefined, "COMPENSATION_FAILED"].includes((error ?? ending?.error)?.code ?? (error ?? ending?.error)?.name);
  return { version, status: seen(status), rounds: Object.keys(rounds).sort(), inbox: inbox.map(({ name }) => name), failed };
}

function modelStanding(model: Model): unknown {
  const { root, inbox } = model.world();
  const isOver = ["completed", "failed", "cancelled"].includes(model.status);
  return {
    version: model.version,
    status: model.tasks().length > 0 ? "active" : seen(model.status === "active" ? "paused" : model.status),
    rounds: root.rounds.map(({ join, wave }) => `${join}|${wave}`).sort(),
    inbox: isOver ? [] : inbox,
    failed: model.error !== null,
  };
}

/** What happened to an execution that went on in lockstep. */
interface Trip {
  readonly events: number;
  readonly runs: number;
  readonly restarts: number;
}

/**
 * Gives the same events to the engine and the model, and compares the two after each event.
 *
 * @param lives true: the execution goes on with further runs, and is restarted where it has failed or was cancelled
 */
function inLockstep(graph: number, schedule: number, lives = false): Trip {
  const definition = lives ? withoutCompensations(randomGraph(graph)) : randomGraph(graph);
  const random = chance(schedule);
  let [runs, restarts] = [1, 0];
  const model = Model.start(definition, { hashId: engineHash });
  const engine = new Engine(definition);
  let events = new RandomSchedule(schedule, { outcomes: schedule });
  const trail: unknown[] = [];
  for (let i = 0; i < maxEvents; i++) {
    const told = (): string => JSON.stringify({ definition, trail }).slice(0, 6_000);
    expectEqual(standing(engine.snapshot), modelStanding(model), told);
    expectEqual(pathsOf(engine.snapshot), modelPathsOf(model), told);
    const tasks = model.tasks().map(({ name }) => name);
    expectEqual(engine.tasks().sort(), tasks.sort(), told);
    expectEqual(engine.restored, engine.snapshot, told);
    // the engine and the model have the same state, so laws that hold for the model hold for the engine
    expectEqual(brokenLaws(model), [], told);
    const own = tasks.filter((name) => !name.includes(">"));
    const goesOn = lives && own.length > 0 && random() < 0.04;
    const event = goesOn ? ({ type: "continued", task: pick(random, own) } as const) : events.next(model)?.event;
    if (!event) {
      if (!lives || !model.restart()) return { events: i, runs, restarts };
      trail.push("restart");
      engine.restart();
      restarts++;
      // other outcomes: what has failed succeeds now, or fails in another way
      events = new RandomSchedule(schedule + restarts, { outcomes: schedule + restarts });
      continue;
    }
    trail.push(event);
    const taken = model.apply(event);
    expectEqual(engine.apply(event), taken, told);
    if (goesOn && taken) runs++;
  }
  return { events: maxEvents, runs, restarts };
}

const { graphs } = effort;
/** Executions with several runs take longer. */
const lives = Math.ceil(graphs / 2);

/** A graph and a schedule that are rare (1 of 500): one of the joins that wait for each other in a circle has an open round. */
const openRoundInCircle: [graph: number, schedule: number] = [866_650_834, 0];

it(`the engine and the reference model agree on every path after every event, on ${graphs} random graphs`, { timeout: 900_000 }, () => {
  let events = 0;
  const property = fc.property(seeds, seeds, (graph, schedule) => {
    events += inLockstep(graph, schedule).events;
  });
  fc.assert(property, { numRuns: graphs, examples: [openRoundInCircle] });
  expect(events).toBeGreaterThan(5 * graphs);
});

it(`the engine and the reference model agree on runs and restarts, on ${lives} random graphs`, { timeout: 900_000 }, () => {
  let [runs, restarts] = [0, 0];
  const property = fc.property(seeds, seeds, (graph, schedule) => {
    const trip = inLockstep(graph, schedule, true);
    runs += trip.runs - 1;
    restarts += trip.restarts;
  });
  fc.assert(property, { numRuns: lives });
  expect(runs).toBeGreaterThan(lives / 10);
  expect(restarts).toBeGreaterThan(lives / 20);
});
