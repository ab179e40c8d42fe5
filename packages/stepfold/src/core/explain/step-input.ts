import type { CompiledWorkflow } from "../definition/compiled.ts";
import type { ReadPath } from "../definition/template.ts";
import { type ErrorInfo, errorInfo } from "../errors/error-info.ts";
import { StepfoldError } from "../errors/stepfold-error.ts";
import { addressOf } from "../snapshot/address.ts";
import type { Resumed } from "../snapshot/parts/wait.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { findPaths, type Target } from "../snapshot/target.ts";
import { openDraft, scopeAt } from "../transition/draft/open-draft.ts";
import { taskOf } from "../transition/plan.ts";
import { nodeOfTask, previousOf, taskScope } from "../transition/task-scope.ts";
import { refuseUnknown } from "../values/check-arguments.ts";
import { isJsonObject, type Json } from "../values/json.ts";
import { evaluatedJson } from "../values/to-json.ts";

/** The input of a step. */
export interface StepInput {
  /** The place of the step, such as `charge` or `map[3]/charge`. */
  readonly address: string;
  readonly nodeId: string;
  /** The number of the next attempt; 1 for the first. */
  readonly attempt: number;
  /** The data of the node with all expressions resolved, before the schema of its type is applied. Null if that failed (`error`). */
  readonly data: Json;
  /** The error of an expression, or of a result that is not JSON: the step would fail with it. */
  readonly error?: ErrorInfo;
  /** The output of the step before (`$json`). Absent: there is no step before. */
  readonly incoming?: Json;
  /** Why the step runs again and with which payload, if it has waited. */
  readonly resumed?: Resumed;
}

/** The text that is shown in place of each global if no globals are given. */
const mask = "***";

/**
 * Returns what a step would read as its input if it were performed in the state of the snapshot. Nothing is performed. With `Replay` this
 * works for every version of the past. The expressions give the same values as in the step itself, including random numbers and times, but
 * not for globals.
 *
 * ```ts
 * const replay = new Replay(workflow);
 * for (const { event } of events) if (event.version < 7) replay.add(event);
 * stepInput(workflow, replay.snapshot(), "charge")?.data; // { url: "https://pay.example", amount: 40, token: "***" }
 * ```
 *
 * @param target the step: a node such as `map[3]/charge`, or the id of a path or a wait. If it fits several steps, the first one is taken.
 * @param options.globals the globals of the runtime. Default: each global that an expression reads is `***`, so that no secret is needed.
 * @returns null if no path of the execution is at this place
 * @throws StepfoldError `OPTION_INVALID` if the target is not valid, `OPTION_UNKNOWN`, `SNAPSHOT_INVALID` if the workflow lacks the one
 * that a child runs. It must be the workflow of the snapshot: whether it has the node is not checked
 */
export function stepInput(
  workflow: CompiledWorkflow,
  snapshot: Snapshot,
  target: Target,
  options: { readonly globals?: unknown } = {},
): StepInput | null {
  refuseUnknown("stepInput", options, ["globals"]);
  const [found] = findPaths(snapshot, target);
  if (!found) return null;
  const { scope, path } = found;
  const task = taskOf(path, scope);
  const place = scopeAt(openDraft(workflow, snapshot), task.undoes?.scope ?? scope)!;
  if (!place.workflow.nodes.has(task.nodeId))
    throw new StepfoldError("SNAPSHOT_INVALID", {
      pointer: "/activePaths",
      reason: `stands at node "${task.nodeId}", which the workflow lacks`,
    });
  const node = nodeOfTask(task, place);
  const incoming = previousOf(task, place)?.output;
  const { nodeId, attempt, resumed } = task;
  const about = {
    ...{ address: addressOf(snapshot, scope, nodeId), nodeId, attempt },
    ...(incoming !== undefined && { incoming }),
    ...(resumed && { resumed }),
  };
  if (!node.data) return { ...about, data: node.constant };
  const { globals = maskedGlobals(node.data.reads) } = options;
  try {
    const value = node.data.evaluate(taskScope(task, place, globals)());
    return { ...about, data: value === undefined ? null : evaluatedJson(value, `The data of node "${nodeId}"`).value };
  } catch (error) {
    return { ...about, data: null, error: errorInfo(error) };
  }
}

/** Returns globals that contain the members that expressions read, each with the mask as its value. */
function maskedGlobals(reads: readonly ReadPath[]): Json {
  let globals: Json = {};
  for (const [root, ...members] of reads)
    if (root === "globals") globals = masked(globals, members.slice(0, members.indexOf("*") + 1 || undefined));
  return globals;
}

function masked(value: Json | undefined, [member, ...more]: readonly string[]): Json {
  if (member === undefined || member === "*")
    return value === undefined || (isJsonObject(value) && Object.keys(value).length === 0) ? mask : value;
  const members = isJsonObject(value ?? null) ? (value as { readonly [key: string]: Json }) : {};
  const own = Object.hasOwn(members, member) ? members[member] : undefined;
  return Object.fromEntries([...Object.entries(members).filter(([key]) => key !== member), [member, masked(own, more)]]);
}
