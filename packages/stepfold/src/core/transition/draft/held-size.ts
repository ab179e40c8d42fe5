import { type AnsweredKey, maxAnsweredKeys } from "../../snapshot/answered-key.ts";
import type { Event } from "../../snapshot/event.ts";
import { answeredKeyOf } from "../../snapshot/result.ts";
import type { Answer, Context, Resumed, Snapshot, Wait } from "../../snapshot/snapshot.ts";
import type { Variables } from "../../snapshot/variables.ts";
import type { Warning } from "../../snapshot/warning.ts";
import { type Json, sizeOfJson } from "../../values/json.ts";

/** What is counted of an execution. */
interface Counted {
  readonly incarnation: string | undefined;
  readonly sizeBytes: number;
  historyBytes: number;
  readonly committedHistoryBytes: number;
  readonly answered: AnsweredKey[];
  readonly context: Context;
  readonly variables: Variables;
  readonly children: ReadonlyMap<string, { readonly context: Context; readonly variables?: Variables }>;
}

/** About how many bytes an event has beside the values of users. */
const eventBytes = 200;
/** About how many bytes a result has in a checkpoint beside its output. */
const resultBytes = 95;
/** About how many bytes a key has in a checkpoint. */
const keyBytes = 80;

/** Lowers the counted size of the execution. */
export function subtractSize(root: { sizeBytes: number }, bytes: number): void {
  // a snapshot from outside may have been counted in another way, so the size must not become negative
  root.sizeBytes = Math.max(0, root.sizeBytes - bytes);
}

/** From so many bytes on an execution is larger than is good for it. */
const largeBytes = 2 * 1024 * 1024;

/** Raises the counted size of the execution by what an event brings, and warns where that makes it large. */
export function addSize(root: { sizeBytes: number; readonly warnings: Warning[] }, bytes: number): void {
  const before = root.sizeBytes;
  root.sizeBytes += bytes;
  if (root.sizeBytes < largeBytes || before >= largeBytes) return;
  const message = `The execution holds ${root.sizeBytes} bytes of JSON: keep large data elsewhere and store a reference, or set "keep" on nodes in loops`;
  root.warnings.push({ code: "SIZE_LARGE", message });
}

/** The size of the values that waits of one path hold. Their payload is one and the same. */
export function sizeOfWaits(waits: readonly Wait[]): number {
  let sum = sizeOfValue(waits[0]?.kind === "incident" ? (waits[0].payload as { readonly error: Json }).error : waits[0]?.payload);
  for (const { kind, schema, answers = [], refused } of waits) {
    if (kind !== "incident" && kind !== "child") sum += sizeOfValue(schema as Json | undefined);
    sum += sizeOfAnswers(answers) + sizeOfValue(refused?.issues as Json | undefined);
  }
  return sum;
}

/** The size of the values that a step has been resumed with. Of several answers the last one is the payload. */
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

/** About how many bytes of JSON an event has. What follows from it at other places is counted where it is added. */
export function historyBytesOf({ sizeBytes = 0 }: Event): number {
  return eventBytes + sizeBytes;
}

type Metadata = Snapshot["metadata"];

/** The metadata takes the place of what was there. */
export function setMetadata(draft: { metadata: Metadata; sizeBytes: number }, metadata: Metadata): void {
  draft.sizeBytes += sizeOfJson(metadata) - sizeOfJson(draft.metadata);
  draft.metadata = metadata;
}

/** Remembers what of an event no later state shows: that it lies in the history, and the key it was given under. */
export function countEvent(draft: Counted, event: Event): void {
  draft.historyBytes += historyBytesOf(event);
  if (draft.incarnation === undefined) return;
  const answered = answeredKeyOf(event);
  if (!answered) return;
  draft.answered.push(answered);
  if (draft.answered.length > maxAnsweredKeys) draft.answered.shift();
}

/**
 * Whether the next commit is to write a checkpoint. A load then reads at most about twelve times what the execution holds, or `leastBytes`, and
 * checkpoints take at most two thirds as many bytes as events. Steps are many and loads few, so an execution that holds ever more writes ever
 * fewer of them: each time its events are eight times as many. The answer depends on the history alone, so nobody has to know where the last one lies.
 */
export function isCheckpointDue(draft: Counted, leastBytes: number): boolean {
  const { sizeBytes, answered } = draft;
  const valueBytes = sizeBytes + answered.length * keyBytes;
  // results are counted only where without them it would be due
  return isPassed(draft, leastBytes, valueBytes) && isPassed(draft, leastBytes, valueBytes + resultsIn(draft) * resultBytes);
}

/** Whether the events have passed a multiple of one and a half times what is held, rounded up, since the last commit. */
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
