import { isWorkflowId } from "../core/values/ids/id.ts";
import { type EpochMs, isJsonObject, type Json, type JsonObject, sizeOfJson } from "../core/values/json.ts";
import { maxSpecBytes } from "./spec.ts";
import { isTime, tickId } from "./ticks.ts";

/** A command to a schedule. `at` is the time of the command. */
export type ScheduleCommand = { readonly at: EpochMs } & (
  | {
      readonly type: "edit";
      readonly changes: Readonly<Record<string, Json>>;
      /** Members of the specification that are removed. */
      readonly removes?: readonly string[];
      /** `changes` is the whole new specification. */
      readonly replaces?: true;
    }
  | { readonly type: "pause"; readonly note?: string }
  | { readonly type: "resume" }
  | { readonly type: "trigger"; readonly workflowId: string }
  | { readonly type: "backfill"; readonly from: EpochMs; readonly to: EpochMs; readonly overlap: "queue" | "allow" }
);

/** The longest note of a pause, in characters; the rest is cut off. */
export const maxNoteLength: number = 300;

/** True for an id that a schedule with this name gives to what it starts. */
export function isIdOf(name: string, value: unknown): value is string {
  return isWorkflowId(value) && value.startsWith(`${name}@`);
}

/**
 * Reads a command where it is applied. Nothing is known about who wrote it: another version may have, years ago, or a damaged row holds it.
 *
 * @returns the command, with no other members than it needs; or a text that says what is wrong with it
 */
export function readCommand(name: string, given: Json | undefined): ScheduleCommand | string {
  if (!isJsonObject(given)) return "is no object";
  const { type, at } = given;
  if (!isTime(at)) return "has no time `at`";
  switch (type) {
    case "edit":
      return readEdit(given, at);
    case "pause": {
      const { note } = given;
      if (note !== undefined && typeof note !== "string") return "has a `note` that is no text";
      return { type, at, ...(note !== undefined && { note: note.slice(0, maxNoteLength) }) };
    }
    case "resume":
      return { type, at };
    case "trigger": {
      // older versions named what is triggered as if it were a tick
      const { workflowId = tickId(name, at) } = given;
      return isIdOf(name, workflowId) ? { type, at, workflowId } : `has a \`workflowId\` that does not begin with ${name}@`;
    }
    case "backfill": {
      const { from, to, overlap } = given;
      if (!isTime(from) || !isTime(to) || from > to || to > at) return "has a `from` and a `to` that are no times before it, in this order";
      if (overlap !== "queue" && overlap !== "allow") return 'has an `overlap` that is neither "queue" nor "allow"';
      return { type, at, from, to, overlap };
    }
    default:
      return "has a `type` that is unknown";
  }
}

function readEdit({ changes, removes = [], replaces }: JsonObject, at: EpochMs): ScheduleCommand | string {
  if (!isJsonObject(changes)) return "has `changes` that are no object";
  if (!Array.isArray(removes) || removes.some((member) => typeof member !== "string")) return "has `removes` that are no list of names";
  // a specification with its defaults is a little larger than one from outside may be
  if (sizeOfJson({ changes, removes }) > 2 * maxSpecBytes) return "is too large";
  const removed = removes as readonly string[];
  return { type: "edit", at, changes, ...(removed.length > 0 && { removes: removed }), ...(replaces === true && { replaces }) };
}
