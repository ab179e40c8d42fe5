import type { ErrorInfo } from "../../core/errors/error-info.ts";
import type { SchemaIssue } from "../../core/errors/schema-issue.ts";
import type { AnswerRefusedEvent, CompletedEvent, Event, FailedEvent, SpawnedEvent, SuspendedEvent } from "../../core/snapshot/event.ts";
import type { ChildStart, SignalBroadcast, SignalSend } from "../../core/snapshot/parts/message.ts";
import type { Spawn } from "../../core/snapshot/parts/spawn.ts";
import type { Wait } from "../../core/snapshot/parts/wait.ts";
import { continuedEvent, type NextRun } from "../../core/transition/begin-run.ts";
import type { Draft } from "../../core/transition/draft/draft.ts";
import { scopeAt } from "../../core/transition/draft/open-draft.ts";
import type { Task } from "../../core/transition/plan.ts";
import type { EpochMs, Json } from "../../core/values/json.ts";

interface Timed {
  readonly startedAt: EpochMs;
  readonly endedAt: EpochMs;
}

/** The result of performing a task. */
export type Outcome =
  | (Timed & {
      readonly type: "completed";
      readonly output: Json;
      readonly sizeBytes: number;
      /** The handles by which the path leaves. Absent: the default handle. */
      readonly handles?: readonly string[];
      /** The step ends its scope: all other paths of the scope end too. */
      readonly terminates?: true;
      /** With `terminates`: the name of a signal. If the inbox holds it when the outcome is applied, the step does not end its scope. */
      readonly unlessSignalled?: string;
      /** With `terminates`: the execution goes on with this run. */
      readonly nextRun?: NextRun;
      /** The detached execution that the step starts and does not wait for. */
      readonly starts?: ChildStart;
      /** Messages to executions that are not children of this one. */
      readonly sends?: NonNullable<CompletedEvent["sends"]>;
      /** The values that the step sets variables to, before their reducers. */
      readonly writes?: Readonly<Record<string, Json>>;
      /** The values of these variables after their reducers. */
      readonly variables?: CompletedEvent["variables"];
      /** The items that these variables, which are lists, have in addition. */
      readonly appended?: CompletedEvent["appended"];
      /** The members of the metadata that the step changes. */
      readonly metadataPatch?: NonNullable<CompletedEvent["metadata"]>;
      /** The whole metadata after this change. */
      readonly metadata?: CompletedEvent["metadata"];
    })
  | (Timed & {
      readonly type: "failed";
      readonly sizeBytes: number;
      readonly error: ErrorInfo;
      /** When the next attempt is made; null if there is none. */
      readonly retryAt: EpochMs | null;
      /** The edge that takes the failure. Absent if there is no such edge, or another attempt follows. */
      readonly handle?: "timeout" | "error";
      /** The path stays at the node, and waits for a decision. */
      readonly incident?: true;
      /** With `retryAt`: the next attempt is a new visit of the node, and starts another detached execution. */
      readonly anew?: true;
      /** The executor was not called: for example, the data could not be evaluated or did not fit the schema, or a limit was reached. */
      readonly uncalled?: true;
    })
  | (Timed & {
      readonly type: "suspended";
      readonly waits: readonly Wait[];
      readonly sizeBytes: number;
      /** The detached execution that the step starts, and whose end it waits for. */
      readonly starts?: ChildStart;
      /** The signal that the step sends, and whose arrival it waits for. */
      readonly signal?: SignalSend | SignalBroadcast;
      /** Schemas that the waits name as `typeSchema`, and that the execution does not hold yet. */
      readonly schemas?: SuspendedEvent["schemas"];
    })
  /** The payload that the step was resumed with does not fit the schema of the node, so the executor was not called. */
  | (Timed & { readonly type: "refused"; readonly issues: readonly SchemaIssue[]; readonly sizeBytes: number })
  | (Timed & { readonly type: "spawned"; readonly children: Spawn; readonly sizeBytes: number })
  /** The attempt was given up; nothing changes. */
  | (Timed & { readonly type: "aborted" });

/** Returns the event for an outcome that is applied to a draft. */
export function eventOf(draft: Draft, task: Task, outcome: Exclude<Outcome, { type: "aborted" }>): Event {
  const step = ofPath(task, outcome, draft.version + 1);
  const undoing = step.type === "completed" ? undoingOf(draft, task) : undefined;
  const event = undoing ? { ...step, ...undoing } : step;
  if (outcome.type === "completed" && outcome.nextRun) return continuedEvent(draft, event as CompletedEvent, outcome.nextRun);
  if (task.scope === undefined && task.undoes === undefined) return event;
  return { ...event, ...(task.scope !== undefined && { scope: task.scope }), ...(task.undoes && { undoes: task.undoes }) };
}

/** Returns what the event keeps of a step that can be undone later; undefined if it cannot be. */
function undoingOf(draft: Draft, { scope, pathId, visit, undoes }: Task): Pick<CompletedEvent, "visit" | "undo"> | undefined {
  if (!draft.workflow.compensates || undoes) return undefined;
  const path = scopeAt(draft, scope)?.paths.find(({ id }) => id === pathId);
  return path?.node.compensation ? { visit, ...(path.undo && { undo: path.undo }) } : undefined;
}

function ofPath(task: Task, outcome: Exclude<Outcome, { type: "aborted" }>, version: number): Event {
  const { pathId, turn, nodeId, attempt } = task;
  const { startedAt, endedAt: at, sizeBytes } = outcome;
  if (outcome.type === "completed") {
    const { output, handles } = outcome;
    // written out, because spreading an object here takes an eighth of the time of a step
    const plain: CompletedEvent = { type: "completed", version, at, pathId, turn, nodeId, attempt, startedAt, output, sizeBytes };
    const { sends, variables, appended, metadata } = outcome;
    const event =
      variables || appended || metadata
        ? { ...plain, ...(variables && { variables }), ...(appended && { appended }), ...(metadata && { metadata }) }
        : plain;
    if (outcome.terminates) return { ...event, terminates: true, ...(sends && { sends }) };
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
