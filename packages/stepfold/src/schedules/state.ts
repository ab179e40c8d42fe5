import { scheduleIdOf } from "../core/values/ids/reserved-ids.ts";
import { type EpochMs, isJsonObject, type Json } from "../core/values/json.ts";
import type { ScheduleProblem } from "../runtime/context/schedules.ts";
import { isIdOf, readCommand, type ScheduleCommand } from "./read-command.ts";
import { type CheckedSpec, readSpec } from "./spec.ts";
import { isTime, nextTick, tickId, withJitter } from "./ticks.ts";

/** The number of latest problems that a schedule keeps. */
const maxProblems = 10;
const maxMessageLength = 300;
const maxCodeLength = 100;

/**
 * The whole state of a schedule, as JSON. It is the payload of the schedule's wait, the output of a step that starts executions, and the
 * input of the next run.
 */
export interface ScheduleState {
  readonly name: string;
  readonly spec: CheckedSpec;
  /** 1 for the first specification; each edit adds 1. */
  readonly generation: number;
  /** Ticks up to this time are decided. */
  readonly decidedUntil: EpochMs;
  /** Present while the schedule is paused. `note` says why. */
  readonly paused?: { readonly note?: string };
  /** Time of the last tick that was decided, even if it was skipped or missed; null if there was none. */
  readonly lastTick: EpochMs | null;
  /** Number of ticks that count for `count` of the specification: started or queued, except queued ticks that a later one has replaced. */
  readonly taken: number;
  /**
   * Numbers of executions that were started, ticks that were skipped because of `overlap`, and ticks that were missed (`catchUpWindow`).
   */
  readonly counts: { readonly started: number; readonly skipped: number; readonly missed: number };
  /** Ids of started executions that have not ended. Only those that report their end to the schedule are in it. */
  readonly running: readonly string[];
  /** Times of the ticks that start once the executions in `running` have ended. */
  readonly queued: readonly EpochMs[];
  /** The executions in `running` that were cancelled, so that the queued tick can start. */
  readonly cancelled?: readonly string[];
  /** Triggers that are not started yet, and ticks that are started again because a worker did not know their workflow. */
  readonly triggers: readonly Trigger[];
  /** Backfills that are not done yet. */
  readonly backfills: readonly Backfill[];
  /** Commands that are not applied yet: the ticks before them are started first. */
  readonly commands: readonly ScheduleCommand[];
  /** The latest problems, oldest first. */
  readonly problems: readonly ScheduleProblem[];
  /**
   * The time for which the schedule waits, and up to which it then decides. All signals that came before the decision are in the state by
   * then.
   */
  readonly horizon: EpochMs;
  /** Steps of the execution that the schedule is at present (see `maxSteps`). */
  readonly steps: number;
}

/** Past ticks that are to be started. */
interface Backfill {
  /** Ticks up to this time are started already; at first, the millisecond before `from` of the command. */
  readonly after: EpochMs;
  /** The last tick is not after this time. */
  readonly to: EpochMs;
  readonly overlap: "queue" | "allow";
}

/** An execution that is to be started at once. */
interface Trigger {
  readonly at: EpochMs;
  /** Id of the execution. */
  readonly workflowId: string;
}

/** Returns the state of a new schedule. */
export function initialState(name: string, spec: CheckedSpec, at: EpochMs, paused: boolean | string): ScheduleState {
  return {
    name,
    spec,
    generation: 1,
    decidedUntil: at,
    ...(paused !== false && { paused: typeof paused === "string" ? { note: paused } : {} }),
    lastTick: null,
    taken: 0,
    counts: { started: 0, skipped: 0, missed: 0 },
    running: [],
    queued: [],
    triggers: [],
    backfills: [],
    commands: [],
    problems: [],
    horizon: at,
    steps: 0,
  };
}

/**
 * Returns a value that was read from an execution as a state; null if it is not a state with a valid specification. What the schedule could not act on is left out and
 * becomes a problem, so that it does not stand still because of that.
 */
export function readState(value: unknown): ScheduleState | null {
  if (!isJsonObject(value) || typeof value.name !== "string" || !isJsonObject(value.spec)) return null;
  const lists = [value.running, value.queued, value.triggers, value.backfills, value.commands, value.problems];
  if (!lists.every(Array.isArray) || !isJsonObject(value.counts) || !isSpec(value.name, value.spec)) return null;
  const state = value as unknown as ScheduleState;
  const read = {
    running: state.running.filter((id) => isIdOf(state.name, id)),
    queued: state.queued.filter(isTime),
    triggers: state.triggers.flatMap((trigger) => readTrigger(state.name, trigger)),
    backfills: state.backfills.filter(isBackfill),
    commands: state.commands.flatMap((command) => readWaiting(state.name, command)),
  };
  const isWhole = (["running", "queued", "triggers", "backfills", "commands"] as const).every(
    (list) => read[list].length === state[list].length,
  );
  if (isWhole) return { ...state, ...read };
  return withProblem(
    { ...state, ...read },
    { code: "SCHEDULE_INVALID", message: "A part of the state could not be read, and was left out" },
  );
}

function isSpec(name: string, spec: Json): boolean {
  try {
    readSpec(name, spec);
    return true;
  } catch {
    return false;
  }
}

function readTrigger(name: string, trigger: unknown): Trigger[] {
  // older versions kept only the time
  if (isTime(trigger)) return [{ at: trigger, workflowId: tickId(name, trigger) }];
  const { at, workflowId } = isJsonObject(trigger) ? trigger : {};
  return isTime(at) && isIdOf(name, workflowId) ? [{ at, workflowId }] : [];
}

function isBackfill(backfill: unknown): boolean {
  const { after, to, overlap } = isJsonObject(backfill) ? backfill : {};
  // before the first tick it is the millisecond before the command's `from`
  return isTime(to) && (after === -1 || isTime(after)) && (overlap === "queue" || overlap === "allow");
}

function readWaiting(name: string, command: unknown): ScheduleCommand[] {
  const read = readCommand(name, command as Json);
  return typeof read === "string" ? [] : [read];
}

/** Adds a problem to the state. By default it concerns the schedule itself, now. The oldest problems are dropped. */
export function withProblem(
  state: ScheduleState,
  {
    at = state.decidedUntil,
    workflowId = scheduleIdOf(state.name),
    code,
    message,
  }: Partial<ScheduleProblem> & Pick<ScheduleProblem, "code" | "message">,
): ScheduleState {
  const problem = { at, workflowId, code: code.slice(0, maxCodeLength), message: message.slice(0, maxMessageLength) };
  return { ...state, problems: [...state.problems, problem].slice(-maxProblems) };
}

/** Returns the time of the next tick, and the time with jitter at which it starts. Null if there is none, or if the schedule is paused. */
export function tickAhead({
  name,
  spec,
  paused,
  taken,
  decidedUntil,
}: ScheduleState): { readonly at: EpochMs; readonly beginsAt: EpochMs } | null {
  if (paused || (spec.count !== undefined && taken >= spec.count)) return null;
  const at = nextTick(spec, decidedUntil);
  return at === null ? null : { at, beginsAt: withJitter(spec, at, spec.jitter, name) };
}

/** True if a schedule will never start anything again. */
export function isOver(state: ScheduleState): boolean {
  const { paused, queued, triggers, backfills, commands } = state;
  return !paused && [queued, triggers, backfills, commands].every(({ length }) => length === 0) && tickAhead(state) === null;
}

/** Returns when a schedule has something to do. 0: at once. Null: not before it gets a signal. */
export function wakeOf(state: ScheduleState): EpochMs | null {
  const { paused, running, queued, triggers, backfills, commands } = state;
  const isIdle = running.length === 0;
  if (commands.length > 0 || triggers.length > 0 || (isIdle && !paused && queued.length > 0)) return 0;
  if (backfills.some(({ overlap }) => overlap === "allow" || isIdle)) return 0;
  // a schedule that is over wakes at once, to end its execution
  return isOver(state) ? 0 : (tickAhead(state)?.beginsAt ?? null);
}
