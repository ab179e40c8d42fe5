import type { EpochMs, Json, JsonObject } from "../core/values/json.ts";
import type { SendRequest } from "../engine/node/node-definition.ts";
import { applyCommand, backfillTick, withRunning } from "./commands.ts";
import { isOver, type ScheduleState, tickAhead, wakeOf, withProblem } from "./state.ts";
import { isoOf, tickId } from "./ticks.ts";

/** The decision of a schedule: what it does next. */
export interface Decision {
  readonly state: ScheduleState;
  /** Requests to start or cancel executions, in the order in which they must be sent. */
  readonly sends: readonly SendRequest[];
  /** When the schedule has to decide again. 0: at once. Null: not before it gets a signal. */
  readonly wakeAt: EpochMs | null;
  /** True if the schedule will never start anything again. */
  readonly isOver: boolean;
}

/** Checks whether a workflow can be started with an input. Returns the reason if it cannot; null if it can. */
export type StartCheck = (workflow: string, input: Json) => { readonly code: string; readonly message: string } | null;

/** From this number of requests on, a decision ends and the next step of the schedule decides the rest. The last round may go beyond it. */
const maxSends = 20;
/** The most rounds of one decision. The next step of the schedule decides the rest. */
const maxRounds = 1_000;
/** The most ticks that wait with the overlap `queue`. Further ticks are skipped. */
const maxQueued = 100;

/**
 * Decides what a schedule does up to the time `horizon` of its state: it starts the due ticks and applies the commands, both together in
 * the order of their times. The decision depends only on the arguments.
 *
 * @param now the current time: a tick that should have started more than `catchUpWindow` before `now` is missed
 */
export function decideTicks(before: ScheduleState, now: EpochMs, checkStart: StartCheck): Decision {
  const draft: DecisionDraft = { state: before, sends: [], now, checkStart };
  let missed = 0;
  for (let round = 0; round < maxRounds && draft.sends.length < maxSends; round++) {
    const missedBefore = draft.state.counts.missed;
    if (!advance(draft)) break;
    if (draft.state.counts.missed > missedBefore) missed++;
  }
  // every round has found a missed tick, so there was a very long outage: the other missed ticks are left out without counting them
  if (missed === maxRounds) {
    const { decidedUntil, spec } = draft.state;
    draft.state = { ...draft.state, decidedUntil: Math.max(decidedUntil, now - spec.catchUpWindow - spec.jitter - 1) };
  }
  const { state, sends } = draft;
  return { state, sends, wakeAt: wakeOf(state), isOver: isOver(state) };
}

/** The state of one decision while it is made. */
interface DecisionDraft {
  state: ScheduleState;
  readonly sends: SendRequest[];
  readonly now: EpochMs;
  readonly checkStart: StartCheck;
}

/**
 * Does the next thing: starts a trigger, takes a due tick, applies a command, starts a queued tick or one of a backfill, in this order.
 *
 * @returns false if there is nothing to do now
 */
function advance(draft: DecisionDraft): boolean {
  const { state } = draft;
  const [trigger, ...triggers] = state.triggers;
  if (trigger !== undefined) {
    draft.state = { ...state, triggers };
    start(draft, trigger.at, true, trigger.workflowId);
    return true;
  }
  const [command, ...commands] = state.commands;
  const tick = tickAhead(state);
  // Ticks that were due before a command are started before the command is applied. So the time of the command counts and not `horizon`,
  // which lies before it if the clock of a worker was behind. An edit must not remove a tick whose time has come and that only waits for
  // its jitter: so for an edit `at` of the tick counts, not `beginsAt`. `draft.now` is the limit because no tick starts before its time by
  // this worker's clock.
  const until = Math.min(command ? command.at : state.horizon, draft.now);
  if (tick && (command?.type === "edit" ? tick.at : tick.beginsAt) <= until) {
    takeTick(draft, tick);
    return true;
  }
  if (command) {
    draft.state = applyCommand({ ...state, commands }, command, draft.now);
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

/** Starts, queues, skips or misses a tick. `at` is its time; `beginsAt` is the time with jitter, when it should start. */
function takeTick(draft: DecisionDraft, { at, beginsAt }: { readonly at: EpochMs; readonly beginsAt: EpochMs }): void {
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
    // overlap `cancel`: this tick replaces a tick that is queued already, so only the latest one starts once the running executions have
    // ended
    const skipped = counts.skipped + queued.length;
    draft.state = { ...draft.state, queued: [at], taken: taken + 1 - queued.length, counts: { ...counts, skipped } };
    cancelRunning(draft);
  }
}

function cancelRunning(draft: DecisionDraft): void {
  const { name, running, cancelled = [] } = draft.state;
  // an execution that was triggered since the last tick was not cancelled yet
  const others = running.filter((id) => !cancelled.includes(id));
  if (others.length === 0) return;
  for (const cancel of others) draft.sends.push({ cancel, schedule: name });
  draft.state = { ...draft.state, cancelled: [...cancelled, ...others] };
}

function takeBackfill(draft: DecisionDraft): boolean {
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

/** Starts the execution of a tick or trigger, unless it still runs. @param reports whether it reports its end to the schedule */
function start(draft: DecisionDraft, at: EpochMs, reports: boolean, workflowId: string = tickId(draft.state.name, at)): void {
  const { name, spec, running, counts } = draft.state;
  // the execution of this tick is still running, and a backfill asks for the same tick again
  if (running.includes(workflowId)) return;
  const input = spec.input ?? scheduledInput(name, at);
  const refusal = draft.checkStart(spec.workflow, input);
  if (refusal) {
    draft.state = withProblem(draft.state, { at, workflowId, ...refusal });
    return;
  }
  const followed = reports ? withRunning(draft.state, workflowId) : draft.state;
  const isFollowed = followed !== draft.state;
  draft.sends.push({
    ...{ start: spec.workflow, workflowId, input, schedule: name, at, reports: isFollowed },
    ...(spec.metadata && { metadata: spec.metadata }),
  });
  draft.state = {
    ...followed,
    counts: { ...counts, started: counts.started + 1 },
    // this tick is being started, so an earlier problem with it is removed
    problems: followed.problems.filter((problem) => problem.workflowId !== workflowId),
  };
}

/** Returns the input of an execution if the schedule has none. */
function scheduledInput(schedule: string, at: EpochMs): JsonObject {
  return { schedule, at: isoOf(at) };
}
