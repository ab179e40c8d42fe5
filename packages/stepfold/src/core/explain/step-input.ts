import type { CompiledWorkflow } from "../definition/compiled.ts";
import type { ReadPath } from "../definition/template.ts";
import { type ErrorInfo, errorInfo } from "../errors/error-info.ts";
import { addressOf } from "../snapshot/address.ts";
import type { Resumed, Snapshot } from "../snapshot/snapshot.ts";
import { findPaths, type Target } from "../snapshot/target.ts";
import { openDraft, scopeAt } from "../transition/draft/open-draft.ts";
import { taskOf } from "../transition/plan.ts";
import { nodeOfTask, previousOf, taskScope } from "../transition/task-scope.ts";
import { isJsonObject, type Json } from "../values/json.ts";
import { refuseUnknown } from "../values/refuse-unknown.ts";
import { plainJson } from "../values/to-json.ts";

/** What a step reads. */
export interface StepInput {
  /** The place: `charge`, `map[3]/charge`. */
  readonly address: string;
  readonly nodeId: string;
  /** The next attempt: 1 for the first. */
  readonly attempt: number;
  /** The data of the node with every expression resolved, before the schema of its type sees it. Null if that failed (`error`). */
  readonly data: Json;
  /** Why its expressions cannot be resolved: the step would fail with this. */
  readonly error?: ErrorInfo;
  /** What the step before has given: `$json`. Absent: it is the first one. */
  readonly incoming?: Json;
  /** What it is woken by, if it has waited. */
  readonly resumed?: Resumed;
}

/** What is shown of a global that is not here. */
const mask = "***";

/**
 * What a step would read as its input if it were performed as the snapshot stands; nothing is performed. With `Replay` that can be asked of any
 * version of the past. The same expressions give the same values as in the step itself, chance and time included, but for globals.
 *
 * ```ts
 * const replay = new Replay(workflow);
 * for (const { event } of events) if (event.version < 7) replay.add(event);
 * stepInput(workflow, replay.snapshot(), "charge")?.data; // { url: "https://pay.example", amount: 40, token: "***" }
 * ```
 *
 * @param target the step: a node, `map[3]/charge`, a path or a wait by its id. Of several that it names the first
 * @param options.globals those of the runtime. Default: what expressions read of them is shown as `***`, so that no secret is needed, nor shown
 * @returns null if the execution does not stand there
 * @throws StepfoldError `OPTION_INVALID` for what is no target, `OPTION_UNKNOWN`, `SNAPSHOT_INVALID` if the snapshot is of another workflow
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
    return { ...about, data: value === undefined ? null : plainJson(value, `The data of node "${nodeId}"`).value };
  } catch (error) {
    return { ...about, data: null, error: errorInfo(error) };
  }
}

/** Globals that have the members that are read, each masked. */
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
