import type { ErrorInfo } from "../../core/errors/error-info.ts";
import type { SchemaIssue } from "../../core/errors/schema-issue.ts";
import type {
  AnswerRefusedEvent,
  CompletedEvent,
  Event,
  FailedEvent,
  Spawn,
  SpawnedEvent,
  SuspendedEvent,
} from "../../core/snapshot/event.ts";
import type { ChildStart, SignalBroadcast, SignalSend } from "../../core/snapshot/message.ts";
import type { Wait } from "../../core/snapshot/snapshot.ts";
import type { Task } from "../../core/transition/plan.ts";
import type { EpochMs, Json } from "../../core/values/json.ts";

interface Timed {
  readonly startedAt: EpochMs;
  readonly endedAt: EpochMs;
}

/** What performing a task gave. */
export type Outcome =
  | (Timed & {
      readonly type: "completed";
      readonly output: Json;
      readonly sizeBytes: number;
      readonly handles?: readonly string[];
      readonly terminates?: true;
      /** With `terminates`: not if a signal of this name lies in the inbox when the outcome is applied. */
      readonly unlessSignalled?: string;
      readonly continues?: NonNullable<CompletedEvent["continues"]>;
      readonly starts?: ChildStart;
      readonly sends?: NonNullable<CompletedEvent["sends"]>;
      /** What it sets variables to, before their reducers. */
      readonly writes?: Readonly<Record<string, Json>>;
      /** What the variables are after that. */
      readonly variables?: CompletedEvent["variables"];
      /** What it changes of the metadata, and what that is afterwards. */
      readonly metadataPatch?: NonNullable<CompletedEvent["metadata"]>;
      readonly metadata?: CompletedEvent["metadata"];
    })
  | (Timed & {
      readonly type: "failed";
      readonly sizeBytes: number;
      readonly error: ErrorInfo;
      readonly retryAt: EpochMs | null;
      readonly handle?: "error";
      readonly incident?: true;
      readonly anew?: true;
      /** The executor was not called: its data did not resolve or did not fit, or a limit was reached before. */
      readonly uncalled?: true;
    })
  | (Timed & {
      readonly type: "suspended";
      readonly waits: readonly Wait[];
      readonly sizeBytes: number;
      readonly starts?: ChildStart;
      readonly signal?: SignalSend | SignalBroadcast;
      readonly schemas?: SuspendedEvent["schemas"];
    })
  /** The payload that it was resumed with does not fit: the executor was not called. */
  | (Timed & { readonly type: "refused"; readonly issues: readonly SchemaIssue[]; readonly sizeBytes: number })
  | (Timed & { readonly type: "spawned"; readonly children: Spawn; readonly sizeBytes: number })
  | (Timed & { readonly type: "aborted" });

/** The event that an outcome makes, as the given version. */
export function eventOf(task: Task, outcome: Exclude<Outcome, { type: "aborted" }>, version: number): Event {
  const event = ofPath(task, outcome, version);
  if (task.scope === undefined && task.undoes === undefined) return event;
  return { ...event, ...(task.scope !== undefined && { scope: task.scope }), ...(task.undoes && { undoes: task.undoes }) };
}

function ofPath(task: Task, outcome: Exclude<Outcome, { type: "aborted" }>, version: number): Event {
  const { pathId, turn, nodeId, attempt } = task;
  const { startedAt, endedAt: at, sizeBytes } = outcome;
  if (outcome.type === "completed") {
    const { output, handles } = outcome;
    // written out, since spreading an object here costs an eighth of a step
    const plain: CompletedEvent = { type: "completed", version, at, pathId, turn, nodeId, attempt, startedAt, output, sizeBytes };
    const { continues, sends, variables, metadata } = outcome;
    const event = variables || metadata ? { ...plain, ...(variables && { variables }), ...(metadata && { metadata }) } : plain;
    if (outcome.terminates) return { ...event, terminates: true, ...(continues && { continues }), ...(sends && { sends }) };
    if (outcome.starts) return { ...event, starts: outcome.starts };
    if (sends) return { ...event, ...(handles && { handles }), sends };
    return handles ? { ...event, handles } : event;
  }
  const step = { version, at, pathId, turn, nodeId, attempt, startedAt, sizeBytes };
  if (outcome.type === "suspended") {
    const { waits, starts, signal, schemas } = outcome;
    return { type: "suspended", ...step, waits, ...(starts && { starts }), ...(signal && { signal }), ...(schemas && { schemas }) };
  }
  if (outcome.type === "refused") {
    const { who, reopens } = task.resumed!;
    const { waitId, version: answer } = reopens!;
    const refused = { ...step, waitId, ...(answer !== undefined && { answer }), ...(who !== undefined && { who }), issues: outcome.issues };
    return { type: "answerRefused", ...refused } satisfies AnswerRefusedEvent;
  }
  if (outcome.type === "spawned") {
    const spawned: SpawnedEvent = { type: "spawned", ...step, visit: task.visit, children: outcome.children };
    return spawned;
  }
  const event: FailedEvent = { type: "failed", ...step, error: outcome.error, retryAt: outcome.retryAt };
  if (outcome.anew) return { ...event, anew: true };
  if (outcome.incident) return { ...event, incident: true };
  return outcome.handle ? { ...event, handle: outcome.handle } : event;
}
