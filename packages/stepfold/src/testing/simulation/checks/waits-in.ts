import { scopedKey } from "../../../core/snapshot/address.ts";
import type { CheckpointState } from "../../../core/snapshot/checkpoint.ts";
import type { Event, SpawnedEvent } from "../../../core/snapshot/event.ts";
import type { Wait } from "../../../core/snapshot/parts/wait.ts";
import type { EpochMs } from "../../../core/values/json.ts";

/**
 * Returns the wait with this id, as the step has asked for it, or as a restart has opened it again. A wait that is open again after a
 * refused answer has a new id, which is two turns later, because the answer took a turn too.
 */
export function waitOf(events: readonly Event[], waitId: string): Wait | undefined {
  for (const event of events.toReversed()) {
    const wait = waitsIn(event).find(({ id }) => id === waitId);
    if (wait) return wait;
  }
  const [, path = "", turn = "0", nth = ""] = /^(.*)@(\d+)(\.\d+)?$/.exec(waitId) ?? [];
  const before = `${path}@${Number(turn) - 2}${nth}`;
  return events.some((event) => event.type === "answerRefused" && event.turn === Number(turn) - 1) ? waitOf(events, before) : undefined;
}

/**
 * Returns the waits that an event opens: those of a step, the wait for the time at which an
 * execution or a run begins, or the waits of the state from which an execution goes on.
 */
export function waitsIn(event: Event): readonly Wait[] {
  if (event.type === "suspended") return event.waits;
  if (event.type === "spawned") return timeOf(event);
  if (event.type === "restarted") return waitsOfState(event.state);
  if (event.type === "continued") return timerUntil(event.startAt, `${event.run - 1}@2`);
  if (event.type !== "started") return [];
  if (event.checkpoint) return waitsOfState(event.checkpoint.state);
  return timerUntil(event.startAt, "0@2");
}

function timerUntil(resumeAt: EpochMs | undefined, id: string): readonly Wait[] {
  return resumeAt === undefined ? [] : [{ id, kind: "timer", resumeAt }];
}

/** Returns the wait of a node for its sub-workflow or items, if these have to end by a time. */
function timeOf({ scope = "", pathId, turn, children: { timeoutAt } }: SpawnedEvent): readonly Wait[] {
  return timeoutAt === undefined ? [] : [{ id: scopedKey(scope, `${pathId}@${turn + 1}`), kind: "children", timeoutAt }];
}

/** Returns all waits of a state from which an execution goes on. */
export function waitsOfState({ activePaths, childStates = {} }: Pick<CheckpointState, "activePaths" | "childStates">): readonly Wait[] {
  return [...activePaths, ...Object.values(childStates).flatMap((child) => child.activePaths)].flatMap(({ waits = [] }) => waits);
}
