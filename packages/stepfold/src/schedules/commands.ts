import { errorInfo } from "../core/errors/error-info.ts";
import { type EpochMs, isJsonObject, type Json, type JsonObject } from "../core/values/json.ts";
import { asUtc } from "../core/values/timestamp.ts";
import { isIdOf, readCommand, type ScheduleCommand } from "./read-command.ts";
import { readSpec } from "./spec.ts";
import { type ScheduleState, withProblem } from "./state.ts";
import { isTime, nextTick } from "./ticks.ts";

/** The most backfills that a schedule has at once; a further one becomes a problem of the schedule. */
const maxBackfills = 10;
/** The most triggers that wait for their start; a further one becomes a problem. A tick that is to be started again is one of them. */
const maxTriggers = 1_000;
/** How far the clock that gave a command its time may be ahead. No clock of a process that works is ahead by more. */
const maxAheadMs = 24 * 60 * 60 * 1000;
const reportTypes: readonly unknown[] = ["ended", "found", "refused", "reopened"];

/**
 * Returns the state after a signal. A command is kept until the ticks before it are started. A report about an execution changes the state
 * at once. Anything else becomes a problem.
 */
export function absorb(state: ScheduleState, payload: Json | undefined): ScheduleState {
  if (isJsonObject(payload) && reportTypes.includes(payload.type)) return absorbReport(state, payload);
  const command = readCommand(state.name, payload);
  if (typeof command !== "string") return { ...state, commands: [...state.commands, command] };
  return wrong(state, payload, `A command was not applied: it ${command}`);
}

function wrong(state: ScheduleState, payload: Json | undefined, message: string): ScheduleState {
  const at = isJsonObject(payload) && isTime(payload.at) ? { at: payload.at } : {};
  return withProblem(state, { ...at, code: "SCHEDULE_INVALID", message });
}

/**
 * Returns the state after a report about an execution. If only the worker that was to start it did not know its workflow (`refused`), the
 * next decision starts it again, by a worker that knows the workflow; any other refusal is a problem. An execution that was `found` had
 * been started before.
 */
function absorbReport(state: ScheduleState, report: JsonObject): ScheduleState {
  const { type, at, workflowId } = report;
  if (!isTime(at) || !isIdOf(state.name, workflowId))
    return wrong(state, report, `A report was ignored: it has no time \`at\`, or no \`workflowId\` that begins with ${state.name}@`);
  if (type === "ended") return withoutRunning(state, workflowId);
  if (type === "found") return notStarted(report.ended === true ? withoutRunning(state, workflowId) : state);
  if (type === "reopened") return withRunning(state, workflowId);
  const refused = notStarted(withoutRunning(state, workflowId));
  const { code, message } = isJsonObject(report.error) ? report.error : {};
  return code === "DEFINITION_UNKNOWN" && refused.triggers.length < maxTriggers
    ? { ...refused, triggers: [...refused.triggers, { at, workflowId }] }
    : withProblem(refused, { at, workflowId, code: String(code), message: String(message) });
}

/** Does not count an execution any more that the schedule has asked for. */
function notStarted(state: ScheduleState): ScheduleState {
  return { ...state, counts: { ...state.counts, started: Math.max(0, state.counts.started - 1) } };
}

/** Removes an execution that has ended. */
function withoutRunning(state: ScheduleState, workflowId: string): ScheduleState {
  const running = state.running.filter((id) => id !== workflowId);
  const { cancelled, ...rest } = state;
  const others = cancelled?.filter((id) => running.includes(id)) ?? [];
  return { ...rest, running, ...(others.length > 0 && { cancelled: others }) };
}

/** The most executions in `running`. Further ones are started too, but the schedule does not wait for their end. */
const maxRunning = 100;

/** Adds an execution for whose end the schedule waits, if there is room for it. */
export function withRunning(state: ScheduleState, workflowId: string): ScheduleState {
  const { running } = state;
  return running.includes(workflowId) || running.length >= maxRunning ? state : { ...state, running: [...running, workflowId] };
}

/**
 * Applies a command. What cannot be done becomes a problem: an edit that gives no valid specification (earlier edits may have changed it),
 * a backfill too many, a time that is far ahead.
 *
 * @param now the current time
 */
export function applyCommand(state: ScheduleState, command: ScheduleCommand, now: EpochMs): ScheduleState {
  const refuse = (message: string, code = "SCHEDULE_INVALID"): ScheduleState => withProblem(state, { at: command.at, code, message });
  if (command.at > now + maxAheadMs) return refuse("A command was not applied: its time is more than a day ahead");
  // The clock that gave the command its time may be ahead. The command takes effect now then, so that no tick in between is left out.
  const at = Math.min(command.at, now);
  switch (command.type) {
    case "edit":
      try {
        return edited(state, command, at);
      } catch (error) {
        const { message, code } = errorInfo(error);
        return refuse(message, code);
      }
    case "pause":
      return { ...state, paused: command.note === undefined ? {} : { note: command.note } };
    case "resume": {
      const { paused, ...rest } = state;
      return paused ? { ...rest, decidedUntil: Math.max(state.decidedUntil, at) } : state;
    }
    case "trigger": {
      const { workflowId } = command;
      if (state.triggers.length >= maxTriggers) return refuse(`there are ${maxTriggers} triggers already`);
      return { ...state, triggers: [...state.triggers, { at, workflowId }] };
    }
    case "backfill": {
      if (state.backfills.length >= maxBackfills) return refuse(`there are ${maxBackfills} backfills already`);
      const { from, to, overlap } = command;
      return { ...state, backfills: [...state.backfills, { after: from - 1, to, overlap }] };
    }
  }
}

/**
 * Applies an edit. A new `count` starts counting again. `edit` has checked the changes; those of earlier versions may have times without an
 * offset, which were UTC.
 *
 * @throws StepfoldError `SCHEDULE_INVALID`
 */
function edited(
  state: ScheduleState,
  { changes, removes, replaces }: ScheduleCommand & { readonly type: "edit" },
  at: EpochMs,
): ScheduleState {
  const spec = readSpec(state.name, changed(replaces ? {} : (state.spec as unknown as JsonObject), changes, removes), asUtc);
  const decidedUntil = Math.max(state.decidedUntil, at);
  const taken = changes.count === undefined ? state.taken : 0;
  return { ...state, spec, generation: state.generation + 1, decidedUntil, taken };
}

/**
 * Applies changes to a specification. A rule of another kind (`cron`, `every` or `at`) replaces the old rule and its options. The zone UTC is
 * left out: it is the default, and nobody may have named it, so a new time without an offset is not read in it.
 */
export function changed(spec: JsonObject, changes: Readonly<Record<string, Json>>, removes: readonly string[] = []): JsonObject {
  const kinds: readonly (readonly string[])[] = [["cron", "zone"], ["every", "offset"], ["at"]];
  const given = kinds.filter(([kind]) => changes[kind!] !== undefined);
  const dropped = given.length === 0 ? [] : kinds.filter((kind) => !given.includes(kind)).flat();
  const gone = [...dropped, ...removes, ...(spec.zone === "UTC" ? ["zone"] : [])];
  const kept = Object.entries(spec).filter(([member]) => !gone.includes(member));
  return { ...Object.fromEntries(kept), ...changes };
}

/** Returns the next tick of a backfill that is not started yet; null if the backfill is done. */
export function backfillTick({ spec }: ScheduleState, { after, to }: { readonly after: number; readonly to: number }): number | null {
  const at = nextTick(spec, after);
  return at !== null && at <= to ? at : null;
}
