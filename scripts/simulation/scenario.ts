import type { NodeDefinition } from "../../packages/stepfold/src/engine/node/node-definition.ts";
import type { SnapshotStore } from "../../packages/stepfold/src/ports/snapshot-store.ts";
import { altered } from "../../packages/stepfold/src/testing/broken/broken-store.ts";
import type { Random } from "../../packages/stepfold/src/testing/simulation/random.ts";
import type { ClientScript, Scenario } from "../../packages/stepfold/src/testing/simulation/scenario.ts";
import { wrongRefusals } from "./check-refusals.ts";
import { expectations, wrongDeadline, wrongLast, wrongRaces, wrongResults } from "./check-results.ts";
import { workflowsOf } from "./graph.ts";
import { nodes, secret } from "./nodes.ts";
import { randomOthers, taskQueue } from "./others.ts";
import { type Frame, type Program, randomProgram, randomRuns, randomTimeout } from "./program.ts";
import { approver, bell, canceller, forker, herald, hurrier, owner, restarter, watcher } from "./scripts.ts";
import { simulatedStore } from "./simulated-store.ts";
import { type KnownVariables, wrongVariables } from "./variable-model.ts";

/** The largest number of executions in one schedule. */
const mostExecutions = 3;
const latestCancelMs = 8_000;
const latestForkMs = 8_000;

/**
 * Returns random workflows, and clients that start, answer, hurry, watch, cancel, fork and restart them, while releases change the
 * workflows.
 */
export function randomScenario(random: Random): Scenario {
  return scenarioWith(random, false);
}

/** Returns the same with workflows that are written as code, as graphs with code in them, and as code with graphs in it. */
export function randomCode(random: Random): Scenario {
  return scenarioWith(random, true);
}

function scenarioWith(random: Random, hasCode: boolean): Scenario {
  const first: Record<string, Program> = {};
  const edited: Record<string, Program> = {};
  const frames: Record<string, Frame> = {};
  const given = new Map<string, number>();
  const clients: ClientScript[][] = [];
  const cancelled = new Set<string>();
  for (let i = random.between(1, mostExecutions); i > 0; i--) {
    const id = `w${i}`;
    const isCode = hasCode ? random.fork(`code ${id}`).chance(0.7) : undefined;
    const program = randomProgram(random.fork(id), { depth: 3, parts: 4, hasChildren: true, isCode });
    first[id] = program;
    edited[id] = { kind: "sequence", parts: [{ kind: "step", id: "edited" }, program] };
    const limits = random.fork(`deadline ${id}`);
    const runs = randomRuns(random.fork(`runs ${id}`));
    const isQueued = random.fork(`task queue ${id}`).chance(0.3);
    frames[id] = {
      ...randomTimeout(limits),
      runs,
      hasLast: !isCode && random.fork(`last ${id}`).chance(0.3),
      isCode,
      ...(isQueued && { taskQueue }),
    };
    const { timeoutMs } = randomTimeout(limits);
    if (timeoutMs !== undefined) given.set(id, timeoutMs);
    const scripts = [owner(id, timeoutMs)];
    if (random.chance(0.6)) scripts.push(approver(id, "ann"), approver(id, "bob"));
    if (random.chance(0.4)) scripts.push(watcher(id));
    if (random.chance(0.3)) scripts.push(hurrier(id));
    if (random.chance(0.5)) scripts.push(herald(id, signalsOf(program)));
    if (random.chance(0.3)) scripts.push(bell(id));
    if (random.chance(0.25)) {
      cancelled.add(id);
      scripts.push(canceller(id, random.between(0, latestCancelMs)));
    }
    const goingOn = random.fork(`going on ${id}`);
    if (goingOn.chance(0.25)) scripts.push(forker(id, goingOn.between(0, latestForkMs)));
    const restarters = goingOn.chance(0.35) ? ["eve", ...(goingOn.chance(0.5) ? ["joe"] : [])] : [];
    if (restarters.length > 0) cancelled.add(id);
    scripts.push(...restarters.map((who) => restarter(id, who)));
    clients.push(scripts);
  }
  const isEdited = random.chance(0.5);
  const codeNodes: Record<string, NodeDefinition> = {};
  const versions = ["first", "edited"] as const;
  const releases = [first, edited].map((programs, i) =>
    Object.entries(programs).flatMap(([id, program]) => workflowsOf(id, program, frames[id], versions[i], codeNodes)),
  );
  const knownVariables: KnownVariables = new Map();
  const expected = new Map([...expectations(first, frames, versions[0]), ...expectations(edited, frames, versions[1])]);
  const trims = random.fork("trims");
  const otherWorkers = randomOthers(
    random.fork("others"),
    releases.flat().filter(({ id }) => !(id in first)),
  );
  return {
    store: simulatedStore,
    ...(trims.chance(0.5) && { seenStore: (store) => trimmedNowAndThen(store, trims) }),
    workflows: (release) => releases[isEdited ? Math.min(release, 1) : 0]!,
    nodeDefinitions: { ...nodes, ...codeNodes },
    withoutCode: true,
    ...(otherWorkers && { otherWorkers }),
    runtime: {
      globals: { apiKey: secret },
      maxCrashes: random.pick([2, 5, Number.POSITIVE_INFINITY]),
      checkpointBytes: random.pick([1, 300, 1_500, 32_768]),
      // code takes none of the places of its own steps
      ...(hasCode && { concurrency: random.pick([1, 2, 16]) }),
    },
    clients,
    check: ({ snapshot, events }) => {
      const { workflowId, parent } = snapshot;
      const wrong = [...wrongResults(snapshot, expected.get(snapshot.definition.hash), cancelled.has(workflowId) || parent !== undefined)];
      wrong.push(...wrongLast(snapshot, events, expected.get(snapshot.definition.hash)));
      wrong.push(...wrongRefusals(events), ...wrongRaces(snapshot));
      wrong.push(...wrongVariables(snapshot, events, (hash) => expected.get(hash)?.definition, knownVariables));
      const givenMs = parent ? undefined : given.get(/^w\d+/.exec(workflowId)?.[0] ?? "");
      wrong.push(...wrongDeadline(events, expected, givenMs ?? Number.POSITIVE_INFINITY));
      if (JSON.stringify([snapshot, events]).includes(secret)) wrong.push("I15 a secret was stored");
      return wrong;
    },
  };
}

/** Deletes the events of earlier runs after some of the commits, while others may read them. */
function trimmedNowAndThen(store: SnapshotStore, random: Random): SnapshotStore {
  return altered(store, {
    async commit(commit) {
      await store.commit(commit);
      if (random.chance(0.1)) void store.trim({ before: commit.events[0]!.at }).catch(() => undefined);
    },
  });
}

/** Returns the signals that a program waits for in the execution itself, not in its children or loops. */
function signalsOf(program: Program): { readonly name: string; readonly key: string }[] {
  if (program.kind === "signal") return [{ name: program.id, key: ".0" }];
  if (program.kind === "sequence") return program.parts.flatMap(signalsOf);
  if (program.kind === "parallel") return program.branches.flatMap(signalsOf);
  return [];
}
