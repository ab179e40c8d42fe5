import { errorInfo } from "../core/errors/error-info.ts";
import { isJsonObject, type Json, type JsonObject } from "../core/values/json.ts";
import type { ScheduleProblem } from "../runtime/context/schedules.ts";
import { readSpec } from "./spec.ts";
import type { ScheduleCommand, ScheduleState } from "./state.ts";
import { nextTick } from "./ticks.ts";

/** The number of latest problems that a schedule keeps. */
const maxProblems = 10;
const maxMessageLength = 300;
/** The most backfills that a schedule has at once; a further one becomes a problem of the schedule. */
const maxBackfills = 10;
/** The most triggers that wait for their start; further ones are ignored. A tick that is to be started again is one of them. */
const maxTriggers = 1_000;
const commandTypes: readonly unknown[] = ["edit", "pause", "resume", "trigger", "backfill"];

/**
 * Returns the state after a signal. A command is kept until the ticks before it are started. A report about an execution (`ended`,
 * `refused`) changes the state at once: if only the worker that was to start the execution did not know its workflow, the next decision
 * starts it again, by a worker that knows the workflow; any other refusal is a problem. Any other signal is ignored.
 */
export function absorb(state: ScheduleState, payload: Json | undefined): ScheduleState {
  if (!isJsonObject(payload)) return state;
  const { type, at, workflowId } = payload;
  if (typeof at !== "number" || !Number.isFinite(at)) return state;
  if (commandTypes.includes(type)) return { ...state, commands: [...state.commands, payload as unknown as ScheduleCommand] };
  if (type === "ended") return withoutRunning(state, workflowId);
  if (type === "reopened") {
    const isKnown = typeof workflowId !== "string" || state.running.includes(workflowId);
    return isKnown ? state : { ...state, running: [...state.running, workflowId] };
  }
  if (type !== "refused") return state;
  const { code, message } = isJsonObject(payload.error) ? payload.error : {};
  const refused = withoutRunning(state, workflowId);
  if (code === "DEFINITION_UNKNOWN" && refused.triggers.length < maxTriggers) {
    const counts = { ...refused.counts, started: refused.counts.started - 1 };
    return { ...refused, counts, triggers: [...refused.triggers, at] };
  }
  return withProblem(refused, { at, workflowId: String(workflowId), code: String(code), message: String(message) });
}

/** Removes an execution that has ended. */
function withoutRunning(state: ScheduleState, workflowId: Json | undefined): ScheduleState {
  const running = state.running.filter((id) => id !== workflowId);
  const { cancelled, ...rest } = state;
  const others = cancelled?.filter((id) => running.includes(id)) ?? [];
  return { ...rest, running, ...(others.length > 0 && { cancelled: others }) };
}

/** Adds a problem to the state. The oldest problems are dropped. */
export function withProblem(state: ScheduleState, { message, ...rest }: ScheduleProblem): ScheduleState {
  const problem = { ...rest, message: message.slice(0, maxMessageLength) };
  return { ...state, problems: [...state.problems, problem].slice(-maxProblems) };
}

/**
 * Applies a command. An edit that gives no valid specification (earlier edits may have changed it), or a backfill too many, is recorded as
 * a problem.
 */
export function applyCommand(state: ScheduleState, command: ScheduleCommand): ScheduleState {
  const { at } = command;
  const refuse = (error: unknown): ScheduleState => {
    const { message, code = "SCHEDULE_INVALID" } = errorInfo(error);
    return withProblem(state, { at, workflowId: `schedule:${state.name}`, code, message });
  };
  switch (command.type) {
    case "edit":
      try {
        return edited(state, command);
      } catch (error) {
        return refuse(error);
      }
    case "pause":
      return { ...state, paused: command.note === undefined ? {} : { note: String(command.note).slice(0, maxMessageLength) } };
    case "resume": {
      const { paused, ...rest } = state;
      return paused ? { ...rest, decidedUntil: Math.max(state.decidedUntil, at) } : state;
    }
    case "trigger":
      return state.triggers.length < maxTriggers ? { ...state, triggers: [...state.triggers, at] } : state;
    default: {
      if (state.backfills.length >= maxBackfills) return refuse({ name: "Error", message: `there are ${maxBackfills} backfills already` });
      const backfill = { after: command.from - 1, to: command.to, overlap: command.overlap };
      return { ...state, backfills: [...state.backfills, backfill] };
    }
  }
}

/** Applies an edit. A new `count` starts counting again. @throws StepfoldError `SCHEDULE_INVALID` */
function edited(state: ScheduleState, { at, changes, removes, replaces }: ScheduleCommand & { readonly type: "edit" }): ScheduleState {
  const spec = readSpec(state.name, changed(replaces ? {} : (state.spec as unknown as JsonObject), changes, removes));
  const decidedUntil = Math.max(state.decidedUntil, at);
  const taken = changes.count === undefined ? state.taken : 0;
  return { ...state, spec, generation: state.generation + 1, decidedUntil, taken };
}

/** Applies changes to a specification. A rule of another kind (`cron`, `every` or `at`) replaces the old rule and its options. */
export function changed(spec: JsonObject, changes: Readonly<Record<string, Json>>, removes: readonly string[] = []): JsonObject {
  const kinds: readonly (readonly string[])[] = [["cron", "zone"], ["every", "offset"], ["at"]];
  const given = kinds.filter(([kind]) => changes[kind!] !== undefined);
  const dropped = given.length === 0 ? [] : kinds.filter((kind) => !given.includes(kind)).flat();
  const kept = Object.entries(spec).filter(([member]) => !dropped.includes(member) && !removes.includes(member));
  return { ...Object.fromEntries(kept), ...changes };
}

/** Returns the next tick of a backfill that is not started yet; null if the backfill is done. */
export function backfillTick({ spec }: ScheduleState, { after, to }: { readonly after: number; readonly to: number }): number | null {
  const at = nextTick(spec, after);
  return at !== null && at <= to ? at : null;
}
