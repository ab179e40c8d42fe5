import type { EpochMs, Json, JsonObject } from "../core/values/json.ts";
import type { SendRequest } from "../engine/node/node-definition.ts";
import { applyCommand, backfillTick, withProblem } from "./commands.ts";
import { isOver, isoOf, type ScheduleState, tickAhead, tickId, wakeOf } from "./state.ts";

/** What a schedule does next. */
export interface Decision {
  readonly state: ScheduleState;
  /** Executions to start and to cancel, in this order. */
  readonly sends: readonly SendRequest[];
  /** When it has something to do again: 0 for now, null for not before it is told something. */
  readonly wakeAt: EpochMs | null;
  /** It will never start anything again. */
  readonly isOver: boolean;
}

/** Says why a workflow cannot be started with an input; null if it can. */
export type Judge = (workflow: string, input: Json) => { readonly code: string; readonly message: string } | null;

/** Bounds of one decision; what is left is decided in the next step. */
const [maxSends, maxRounds] = [20, 1_000];
const maxQueued = 100;
const maxRunning = 100;

/**
 * What a schedule does at its horizon: it starts the ticks that are due and applies the commands, each in the order of their times. It
 * depends on nothing but its arguments.
 *
 * @param now decides which of these ticks come too late
 */
export function decideTicks(before: ScheduleState, now: EpochMs, judge: Judge): Decision {
  const draft: Draft = { state: before, sends: [], now, judge };
  let missed = 0;
  for (let round = 0; round < maxRounds && draft.sends.length < maxSends; round++) {
    const missedBefore = draft.state.counts.missed;
    if (!advance(draft)) break;
    if (draft.state.counts.missed > missedBefore) missed++;
  }
  // after a very long outage the ticks are not even counted
  if (missed === maxRounds) {
    const { decidedUntil, spec } = draft.state;
    draft.state = { ...draft.state, decidedUntil: Math.max(decidedUntil, now - spec.catchUpWindow - spec.jitter - 1) };
  }
  const { state, sends } = draft;
  return { state, sends, wakeAt: wakeOf(state), isOver: isOver(state) };
}

interface Draft {
  state: ScheduleState;
  readonly sends: SendRequest[];
  readonly now: EpochMs;
  readonly judge: Judge;
}

/** Does one thing. @returns false if there is nothing to do now */
function advance(draft: Draft): boolean {
  const { state } = draft;
  const [trigger, ...triggers] = state.triggers;
  if (trigger !== undefined) {
    draft.state = { ...state, triggers };
    start(draft, trigger, true);
    return true;
  }
  const [command, ...commands] = state.commands;
  const tick = tickAhead(state);
  // what was due before a command is started before it, also if that came while the clock of this worker was behind. An edit takes no tick away that
  // has come already, and only its jitter lets it wait
  if (tick && (command?.type === "edit" ? tick.at : tick.beginsAt) <= (command ? Math.min(command.at, draft.now) : state.horizon)) {
    takeTick(draft, tick);
    return true;
  }
  if (command) {
    draft.state = applyCommand({ ...state, commands }, command);
    return true;
  }
  const [queued, ...rest] = state.queued;
  if (queued !== undefined && !state.paused && state.running.length === 0) {
    draft.state = { ...state, queued: rest };
    start(draft, queued, true);
    return true;
  }
  return takeBackfill(draft);
}

function takeTick(draft: Draft, { at, beginsAt }: { readonly at: EpochMs; readonly beginsAt: EpochMs }): void {
  const { spec, running, queued, counts, taken } = draft.state;
  draft.state = { ...draft.state, decidedUntil: at, lastTick: at };
  if (draft.now - beginsAt > spec.catchUpWindow) {
    draft.state = { ...draft.state, counts: { ...counts, missed: counts.missed + 1 } };
    return;
  }
  const isFree = spec.overlap === "allow" || (running.length === 0 && queued.length === 0);
  if (!isFree && (spec.overlap === "skip" || (spec.overlap === "queue" && queued.length >= maxQueued))) {
    draft.state = { ...draft.state, counts: { ...counts, skipped: counts.skipped + 1 } };
    return;
  }
  draft.state = { ...draft.state, taken: taken + 1 };
  if (isFree) start(draft, at, spec.overlap !== "allow");
  else if (spec.overlap === "queue") draft.state = { ...draft.state, queued: [...queued, at] };
  else {
    // of several that come meanwhile only the last one is started
    const skipped = counts.skipped + queued.length;
    draft.state = { ...draft.state, queued: [at], taken: taken + 1 - queued.length, counts: { ...counts, skipped } };
    cancelRunning(draft);
  }
}

function cancelRunning(draft: Draft): void {
  const { name, running, cancelling } = draft.state;
  // where nothing runs any more, what is queued begins next: a later tick has to be able to cancel that
  if (cancelling || running.length === 0) return;
  for (const cancel of running) draft.sends.push({ cancel, schedule: name });
  draft.state = { ...draft.state, cancelling: true };
}

function takeBackfill(draft: Draft): boolean {
  const { state } = draft;
  const index = state.backfills.findIndex(({ overlap }) => overlap === "allow" || state.running.length === 0);
  const backfill = state.backfills[index];
  if (!backfill) return false;
  const at = backfillTick(state, backfill);
  const backfills = at === null ? state.backfills.toSpliced(index, 1) : state.backfills.with(index, { ...backfill, after: at });
  draft.state = { ...state, backfills };
  if (at !== null) start(draft, at, backfill.overlap === "queue");
  return true;
}

/** @param reports whether the schedule is told of the end */
function start(draft: Draft, at: EpochMs, reports: boolean): void {
  const { name, spec, running, counts } = draft.state;
  const workflowId = tickId(name, at);
  // a backfill of a tick that still runs
  if (running.includes(workflowId)) return;
  const input = spec.input ?? scheduledInput(name, at);
  const refusal = draft.judge(spec.workflow, input);
  if (refusal) {
    draft.state = withProblem(draft.state, { at, workflowId, ...refusal });
    return;
  }
  const isFollowed = reports && running.length < maxRunning;
  draft.sends.push({
    ...{ start: spec.workflow, workflowId, input, schedule: name, at, reports: isFollowed },
    ...(spec.metadata && { metadata: spec.metadata }),
  });
  draft.state = {
    ...draft.state,
    counts: { ...counts, started: counts.started + 1 },
    // it is tried again
    problems: draft.state.problems.filter((problem) => problem.workflowId !== workflowId),
    ...(isFollowed && { running: [...running, workflowId] }),
  };
}

/** What an execution gets as input where the schedule does not say. */
function scheduledInput(schedule: string, at: EpochMs): JsonObject {
  return { schedule, at: isoOf(at) };
}
