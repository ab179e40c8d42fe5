import type { Event, ResumedEvent } from "../core/event.ts";
import { findWait, type Target } from "../core/find-wait.ts";
import type { EpochMs } from "../core/json.ts";
import type { Limits } from "../core/limits.ts";
import { earliestRetry } from "../core/plan.ts";
import { isTerminal, type Snapshot } from "../core/snapshot.ts";
import { StepfoldError } from "../core/stepfold-error.ts";
import { normalise } from "../core/to-json.ts";
import type { PreparedWorkflow } from "./prepared-workflow.ts";
import { validatorOf } from "./validator.ts";

/** Answers a wait. */
export interface ResumeCommand {
  readonly type: "resume";
  /** Needed when the execution waits at several places. */
  readonly target?: Target | undefined;
  readonly payload?: unknown;
  /** Who answers; kept in the history. */
  readonly by?: string | undefined;
  /** The same key with the same payload is one answer, however often it is sent. */
  readonly idempotencyKey?: string | undefined;
}

/** Ends an execution. */
export interface CancelCommand {
  readonly type: "cancel";
  readonly reason?: string | undefined;
}

/** Makes a pending retry due at once. */
export interface RetryCommand {
  readonly type: "retry";
  /** Which one, by node. Default: the earliest. */
  readonly node?: string | undefined;
}

/** What one may tell an execution from outside. */
export type Command = ResumeCommand | CancelCommand | RetryCommand;

/**
 * The event that a command makes of a snapshot. Nothing is changed.
 *
 * @throws StepfoldError `EXECUTION_ENDED`, `RESUME_AMBIGUOUS`, `RESUME_INVALID`, `WAIT_GONE`, `WAIT_EXPIRED`,
 * `RETRY_NOT_PENDING`, `NODE_UNKNOWN`, `VALUE_NOT_JSON`, `LIMIT_EXCEEDED`
 */
export async function decide(
  workflow: PreparedWorkflow,
  snapshot: Snapshot,
  command: Command,
  now: EpochMs,
  limits: Limits,
): Promise<Event> {
  const { workflowId, status } = snapshot;
  if (isTerminal(status)) throw new StepfoldError("EXECUTION_ENDED", { workflowId, status });
  const stamp = { version: snapshot.version + 1, at: now };
  if (typeof command !== "object" || command === null) throw unknownCommand();
  switch (command.type) {
    case "resume":
      return resumed(workflow, snapshot, command, stamp, limits);
    case "cancel":
      return command.reason === undefined
        ? { type: "cancelled", ...stamp }
        : { type: "cancelled", ...stamp, reason: text("reason", command.reason) };
    case "retry": {
      const path = earliestRetry(snapshot.activePaths.filter(({ nodeId }) => command.node === undefined || nodeId === command.node));
      if (!path) throw new StepfoldError("RETRY_NOT_PENDING", { workflowId });
      return { type: "retried", ...stamp, pathId: path.id };
    }
    default:
      throw unknownCommand();
  }
}

function unknownCommand(): StepfoldError {
  return new StepfoldError("OPTION_INVALID", { option: "type", reason: "must be resume, cancel or retry" });
}

async function resumed(
  workflow: PreparedWorkflow,
  snapshot: Snapshot,
  command: ResumeCommand,
  stamp: { version: number; at: EpochMs },
  limits: Limits,
): Promise<ResumedEvent> {
  const { path, wait } = findWait(workflow.compiled, snapshot, command.target, stamp.at);
  const event: { -readonly [K in keyof ResumedEvent]: ResumedEvent[K] } = {
    type: "resumed",
    ...stamp,
    pathId: path.id,
    waitId: wait.id,
    by: "payload",
  };
  if (command.payload !== undefined) {
    const { value, sizeBytes } = normalise(command.payload, "The payload", limits);
    const actual = snapshot.sizeBytes + sizeBytes;
    if (actual > limits.executionBytes)
      throw new StepfoldError("LIMIT_EXCEEDED", {
        what: `Execution "${snapshot.workflowId}"`,
        limit: "executionBytes",
        max: limits.executionBytes,
        actual,
      });
    event.payload = value;
    event.sizeBytes = sizeBytes;
  }
  if (command.by !== undefined) event.who = text("by", command.by);
  if (command.idempotencyKey !== undefined) event.idempotencyKey = text("idempotencyKey", command.idempotencyKey);
  const validate = wait.schema === undefined ? workflow.nodes.get(path.nodeId)!.resume : validatorOf(wait.schema);
  const { issues } = (await validate?.(event.payload)) ?? {};
  if (issues) throw new StepfoldError("RESUME_INVALID", { nodeId: path.nodeId, issues });
  return event;
}

function text(option: string, value: unknown): string {
  if (typeof value === "string" && value.length > 0 && value.length <= 1_000 && !/\p{Surrogate}/u.test(value)) return value;
  throw new StepfoldError("OPTION_INVALID", { option, reason: "must be text of 1 to 1,000 characters" });
}
