import { errorInfo } from "../core/errors/error-info.ts";
import { StepfoldError } from "../core/errors/stepfold-error.ts";
import { depthOf } from "../core/snapshot/address.ts";
import type { Draft } from "../core/transition/draft/draft.ts";
import { scopeAt } from "../core/transition/draft/open-draft.ts";
import type { Task } from "../core/transition/plan.ts";
import type { EpochMs } from "../core/values/json.ts";
import { defaultLimits, type Limits } from "../core/values/limits.ts";
import type { Outcome } from "./attempt/outcome.ts";

/** Default timeout of one attempt: long enough for a call, short enough to end a step that hangs. */
const defaultStepTimeoutMs = 600_000;

/** The limits that apply: the defaults, where nothing else is said. @throws StepfoldError `OPTION_INVALID` */
export function readLimits(given: Partial<Limits> | undefined): Limits {
  for (const [name, value] of Object.entries(given ?? {})) {
    if (!Object.hasOwn(defaultLimits, name))
      throw new StepfoldError("OPTION_INVALID", {
        option: `limits.${name}`,
        reason: `is no limit. There are: ${Object.keys(defaultLimits).join(", ")}`,
      });
    if (typeof value !== "number" || !(value >= 1))
      throw new StepfoldError("OPTION_INVALID", { option: `limits.${name}`, reason: "must be a number from 1 on" });
  }
  return Object.freeze({ ...defaultLimits, ...given });
}

/** The timeout that applies where neither node nor type says. @throws StepfoldError `OPTION_INVALID` */
export function readStepTimeout(given: number = defaultStepTimeoutMs): number {
  if (typeof given === "number" && given > 0) return given;
  throw new StepfoldError("OPTION_INVALID", { option: "stepTimeoutMs", reason: "must be a number above 0" });
}

/** @throws StepfoldError `OPTION_INVALID` */
export function checkTurnOptions(options: { readonly stepLimit?: unknown; readonly concurrency?: unknown }): void {
  if (typeof options !== "object" || options === null)
    throw new StepfoldError("OPTION_INVALID", { option: "request", reason: "must be an object" });
  for (const option of ["stepLimit", "concurrency"] as const) {
    const value = options[option];
    if (value !== undefined && !(value === Number.POSITIVE_INFINITY || (Number.isSafeInteger(value) && (value as number) >= 1))) {
      throw new StepfoldError("OPTION_INVALID", { option, reason: "must be a whole number from 1 on" });
    }
  }
}

type Counted = Exclude<Outcome, { type: "aborted" }>;

/**
 * The outcome, or the failure that it becomes because the execution would pass a limit: the transition that would
 * add too much is the one that is refused, so whatever is stored always loads.
 */
export function enforceLimits(limits: Limits, draft: Draft, task: Task, outcome: Counted): Counted {
  const exceeded = (limit: "executionBytes" | "nesting" | "paths", actual: number): Counted => {
    const what = `Execution "${draft.workflowId}"`;
    return refused(task, outcome, new StepfoldError("LIMIT_EXCEEDED", { what, limit, max: limits[limit], actual }));
  };
  const sizeBytes = draft.sizeBytes + outcome.sizeBytes;
  if (sizeBytes > limits.executionBytes) return exceeded("executionBytes", sizeBytes);
  if (outcome.type === "spawned" && depthOf(task.scope ?? "") >= limits.nesting) return exceeded("nesting", limits.nesting + 1);
  const paths = outcome.type === "completed" && !task.undoes ? pathsAfter(limits, draft, task, outcome.handles) : 0;
  return paths > limits.paths ? exceeded("paths", paths) : outcome;
}

/**
 * The failure of a task that would be one step too many, made without performing it; null while there are steps left.
 *
 * @param begun tasks that are under way, or whose outcomes are not applied yet
 */
export function exhausted(limits: Limits, { workflowId, steps }: Draft, { nodeId }: Task, begun: number, now: EpochMs): Outcome | null {
  if (steps + begun < limits.steps) return null;
  const error = errorInfo(new StepfoldError("STEPS_EXCEEDED", { workflowId, max: limits.steps }), nodeId);
  return { type: "failed", error, sizeBytes: error.message.length, retryAt: null, startedAt: now, endedAt: now, uncalled: true };
}

/** Paths of the task's scope once it has left its node. */
function pathsAfter(limits: Limits, draft: Draft, { nodeId, scope: key }: Task, handles: readonly string[] | undefined): number {
  const scope = key === undefined ? draft : scopeAt(draft, key);
  if (!scope) return 0;
  const { length } = scope.workflow.definition.edges;
  // there is room for every edge that a path could take
  if (!handles && scope.paths.length + length <= limits.paths) return 0;
  const { edges, next } = scope.workflow.nodes.get(nodeId)!;
  return scope.paths.length - 1 + (handles ? handles.reduce((sum, handle) => sum + (edges.get(handle)?.length ?? 0), 0) : next.length);
}

function refused({ nodeId }: Task, { startedAt, endedAt }: Counted, error: StepfoldError): Counted {
  return { type: "failed", error: errorInfo(error, nodeId), sizeBytes: 0, retryAt: null, startedAt, endedAt };
}
