import { isTerminal, type Snapshot } from "../core/snapshot/snapshot.ts";
import type { EpochMs } from "../core/values/json.ts";
import { scheduleSignal } from "../runtime/context/schedule-host.ts";
import type { ScheduleDescription } from "../runtime/context/schedules.ts";
import { absorb, applyCommand } from "./commands.ts";
import { readState, type ScheduleState, tickAhead } from "./state.ts";

/** The most next ticks in a description. */
const maxNextTicks = 10;

/**
 * Returns the state of a schedule with all commands and reports that were committed, also those that no worker has handled yet. Null if the
 * execution holds no state.
 */
export function stateOf({ activePaths: [path], context, input, inbox = [] }: Snapshot): ScheduleState | null {
  const { resumed, waits } = path ?? {};
  const waited = resumed?.suspendPayload ?? waits?.find(({ payload }) => readState(payload))?.payload;
  const stored = waited ?? context.tick?.at(-1)?.output ?? input;
  let state = readState(stored);
  if (!state) return null;
  if (resumed?.by === "signal") state = absorb(state, resumed.payload);
  for (const { name, payload } of inbox) if (name === scheduleSignal) state = absorb(state, payload);
  const { commands } = state;
  return commands.reduce((after: ScheduleState, command) => applyCommand(after, command, Number.POSITIVE_INFINITY), {
    ...state,
    commands: [],
  });
}

/** True if a schedule has ended. */
export function hasEnded({ status }: Snapshot): boolean {
  return isTerminal(status);
}

/** Returns the description of a schedule. @param state the result of `stateOf` */
export function describe(snapshot: Snapshot, state: ScheduleState): ScheduleDescription {
  const { workflowId, tenant } = snapshot;
  const { name, paused, spec, generation, lastTick, running, queued, counts, problems } = state;
  const isEnded = hasEnded(snapshot);
  return {
    name,
    workflowId,
    ...(tenant !== undefined && { tenant }),
    status: isEnded ? "ended" : paused ? "paused" : "active",
    ...(paused?.note !== undefined && { note: paused.note }),
    spec,
    generation,
    nextTicks: isEnded ? [] : ticksAhead(state),
    lastTick,
    running,
    queued,
    counts,
    problems,
  };
}

function ticksAhead(state: ScheduleState): EpochMs[] {
  const ticks: EpochMs[] = [];
  for (let ahead = tickAhead(state); ahead && ticks.length < maxNextTicks; ) {
    ticks.push(ahead.at);
    ahead = tickAhead({ ...state, taken: state.taken + ticks.length, decidedUntil: ahead.at });
  }
  return ticks;
}
