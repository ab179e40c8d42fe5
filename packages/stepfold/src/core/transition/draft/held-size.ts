import type { Event } from "../../snapshot/event.ts";
import { type AnsweredKey, addKey, type KeyRows } from "../../snapshot/parts/answered-key.ts";
import type { Variables } from "../../snapshot/parts/variables.ts";
import type { Answer, Resumed, Wait } from "../../snapshot/parts/wait.ts";
import type { Warning } from "../../snapshot/parts/warning.ts";
import { answeredKeyOf } from "../../snapshot/result.ts";
import type { Context, Snapshot } from "../../snapshot/snapshot.ts";
import { type Json, sizeOfJson } from "../../values/json.ts";

/** The fields of a draft from which its sizes are calculated. */
interface Counted {
  readonly incarnation: string | undefined;
  readonly sizeBytes: number;
  historyBytes: number;
  readonly committedHistoryBytes: number;
  answered: AnsweredKey[];
  keyRows: KeyRows | undefined;
  readonly context: Context;
  readonly variables: Variables;
  readonly children: ReadonlyMap<string, { readonly context: Context; readonly variables?: Variables }>;
}

/** The approximate size of an event in bytes, without the values of users. */
const eventBytes = 200;
/** The approximate size of a result in a checkpoint in bytes, without its output. */
const resultBytes = 95;
/** The approximate size of an `AnsweredKey` in a checkpoint in bytes. */
const keyBytes = 100;

/** Subtracts bytes from the counted size of the execution. */
export function subtractSize(root: { sizeBytes: number }, bytes: number): void {
  // the size in a snapshot from outside may have been counted in another way, so the result could become negative
  root.sizeBytes = Math.max(0, root.sizeBytes - bytes);
}

/** The size in bytes from which an execution gets the warning `SIZE_LARGE`. */
const largeBytes = 2 * 1024 * 1024;

/** Warns if an event has made the execution large. @param before the size in bytes before the event */
export function warnIfLarge({ sizeBytes, warnings }: { readonly sizeBytes: number; readonly warnings: Warning[] }, before: number): void {
  if (sizeBytes < largeBytes || before >= largeBytes) return;
  const message = `The execution holds ${sizeBytes} bytes of JSON: keep large data elsewhere and store a reference, or set "keep" on nodes in loops`;
  warnings.push({ code: "SIZE_LARGE", message });
}

/**
 * Returns the size of the values in the waits of one path. All waits of a path have the same payload, so it is counted once. Of an incident
 * only the error counts: its schema is the same object in all executions.
 */
export function sizeOfWaits(waits: readonly Wait[]): number {
  let sum = sizeOfValue(waits[0]?.kind === "incident" ? (waits[0].payload as { readonly error: Json }).error : waits[0]?.payload);
  for (const { kind, schema, answers = [], refused } of waits) {
    if (kind !== "incident" && kind !== "child") sum += sizeOfValue(schema as Json | undefined);
    sum += sizeOfAnswers(answers) + sizeOfValue(refused?.issues as Json | undefined);
  }
  return sum;
}

/** Returns the size of the values with which a step was resumed. The last of several answers is also the payload, and is counted once. */
export function sizeOfResumed({ payload, suspendPayload, answers = [], reopens }: Resumed): number {
  return (
    sizeOfValue(payload) + sizeOfValue(suspendPayload) + sizeOfAnswers(answers.slice(0, -1)) + (reopens ? sizeOfWaits(reopens.waits) : 0)
  );
}

function sizeOfAnswers(answers: readonly Answer[]): number {
  return answers.reduce((sum, { payload }) => sum + sizeOfValue(payload), 0);
}

function sizeOfValue(value: Json | undefined): number {
  return value === undefined ? 0 : sizeOfJson(value);
}

/** Returns the approximate size of an event as JSON, without its consequences, which `addConsequence` counts. */
export function historyBytesOf({ sizeBytes = 0 }: Event): number {
  return eventBytes + sizeBytes;
}

type Metadata = Snapshot["metadata"];

/** Replaces the metadata and updates the counted size. */
export function setMetadata(draft: { metadata: Metadata; sizeBytes: number }, metadata: Metadata): void {
  draft.sizeBytes += sizeOfJson(metadata) - sizeOfJson(draft.metadata);
  draft.metadata = metadata;
}

/** Adds an event to the counted size of the history, and remembers its idempotency key, if it has one and the execution is in a store. */
export function countEvent(draft: Counted, event: Event): void {
  draft.historyBytes += historyBytesOf(event);
  if (draft.incarnation === undefined) return;
  const answered = answeredKeyOf(event);
  if (answered) addKey(draft, answered);
}

/**
 * Whether the next commit writes a checkpoint. The distance between checkpoints, in bytes of events, is `leastBytes` times a power of 8,
 * and at least 1.5 times the size of what the execution holds. So a load reads events of at most `leastBytes`, or of about 12 times the
 * size of what the execution holds, and checkpoints take at most about two thirds of the bytes of the events. The position of the last
 * checkpoint need not be known: a checkpoint is due whenever the size of all events passes a multiple of the distance.
 */
export function isCheckpointDue(draft: Counted, leastBytes: number): boolean {
  const { sizeBytes, answered } = draft;
  const valueBytes = sizeBytes + answered.length * keyBytes;
  // counting the results takes time, so they are counted only if a checkpoint would be due without them
  return isPassed(draft, leastBytes, valueBytes) && isPassed(draft, leastBytes, valueBytes + resultsIn(draft) * resultBytes);
}

/** Whether the size of the events has passed a multiple of the distance between checkpoints since the last commit. */
function isPassed({ historyBytes, committedHistoryBytes }: Counted, leastBytes: number, heldBytes: number): boolean {
  let everyBytes = leastBytes;
  while (everyBytes < 1.5 * heldBytes) everyBytes *= 8;
  return Math.floor(historyBytes / everyBytes) > Math.floor(committedHistoryBytes / everyBytes);
}

function resultsIn({ context, variables, children }: Counted): number {
  let count = 0;
  for (const held of [{ context, variables }, ...children.values()])
    for (const list of [...Object.values(held.context), ...Object.values(held.variables ?? {})]) count += list.length;
  return count;
}
