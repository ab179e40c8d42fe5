import { type ModelDefinition, startOf } from "./model-definition.fixture.ts";
import { arrive } from "./model-moves.fixture.ts";
import { allFrames, type Frame, newScope, type World } from "./model-state.fixture.ts";

/** The event that decided the end of an execution, and the state before it. */
export interface Decision {
  readonly before: World;
  /** The task that failed for good; null for a cancellation. */
  readonly failed: string | null;
}

/** Returns the first path of run `run` of an execution that has only this id in common with the runs before it ("Runs and restarts"). */
export function beginRun(frame: Frame, run: number): void {
  const { world, definition } = frame;
  const tally = { born: 0 };
  Object.assign(world.root, newScope(tally, definition));
  Object.assign(world, { born: tally.born, ended: {}, queue: 0, firings: {}, shorts: [], overruns: 0, notUndone: [] });
  for (const first of world.root.paths) {
    first.id = `${run - 1}`;
    arrive({ ...frame, scope: world.root }, first, startOf(definition), null);
  }
}

/**
 * Returns the state after a restart: all paths and children as they were before the event that decided the end; the path that has failed
 * performs its step again, in the same visit, with all its attempts ("Runs and restarts").
 */
export function reopened({ before, failed }: Decision, version: number, inbox: readonly string[], frameOf: (world: World) => Frame): World {
  const world = { ...structuredClone(before), version, inbox: [...inbox], shorts: [] };
  for (const frame of allFrames(frameOf(world)))
    for (const path of frame.scope.paths)
      if (`${frame.chain}${path.id}@${path.turn}` === failed)
        Object.assign(path, { status: "ready", turn: path.turn + 1, attempts: 0, waits: [], offered: false });
  return world;
}

/** A definition without what the model of restarts leaves out: compensations. */
export function withoutCompensations(definition: ModelDefinition): ModelDefinition {
  const { workflows } = definition;
  return {
    ...definition,
    nodes: definition.nodes.map(({ compensate: _, ...node }) => node),
    ...(workflows && {
      workflows: Object.fromEntries(Object.entries(workflows).map(([name, inner]) => [name, withoutCompensations(inner)])),
    }),
  };
}
