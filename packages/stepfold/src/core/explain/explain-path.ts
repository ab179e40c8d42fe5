import type { CompiledNode, CompiledWorkflow } from "../definition/compiled.ts";
import { heldUp, isResting, itemOf, pathsOf, scopedKey } from "../snapshot/address.ts";
import type { ActivePath, Snapshot } from "../snapshot/snapshot.ts";
import type { Draft } from "../transition/draft/draft.ts";
import { openDraft } from "../transition/draft/open-draft.ts";
import { workflowOf } from "../transition/find-wait.ts";
import type { EpochMs } from "../values/json.ts";
import { holdText, joinText } from "./explain-hold.ts";
import { childrenText, type ItemCounts, itemCounts } from "./explain-items.ts";
import { addressMark, type SentenceMark, timeMark, unmarked } from "./explain-marks.ts";
import { holdsCode, movesAt, type Placed, type Survey, survey } from "./explain-survey.ts";
import { waitText } from "./explain-wait.ts";
import { counted, cut } from "./explain-words.ts";
import { type WaitInfo, waitsOf } from "./waits.ts";
import { addresses } from "./waits-address.ts";

/** One open place of an execution. */
export interface PlaceInfo {
  /** The name of the place, such as `approve` or `map[3]/approve`. */
  readonly address: string;
  /** The id of the path, with the key of the child that the path is in: `0#1/3>0`. */
  readonly pathId: string;
  readonly status: ActivePath["status"];
  /** What the path does or waits for, and what happens then, such as `waits for an answer from ada`. The address is the subject. */
  readonly sentence: string;
  /** What stands where in the sentence. */
  readonly marks: readonly SentenceMark[];
  readonly waits: readonly WaitInfo[];
  /** The time at which the path moves by itself, by a retry, timer or timeout; null if it can run at once or no such time is set. */
  readonly until: EpochMs | null;
  /** For a map: the number of its items in each state. */
  readonly items?: ItemCounts;
}

/** What is needed to explain the paths of an execution. */
export interface ExplainContext {
  readonly snapshot: Snapshot;
  readonly survey: Survey;
  /** Whether a process runs the execution now. */
  readonly isHeld: boolean;
  /** Returns the name of a place, such as `map[3]/approve`. */
  address(scope: string, nodeId: string): string;
  /** Returns the workflow that a scope runs; undefined if it is not known. */
  workflow(scope: string): CompiledWorkflow | undefined;
  /** Returns a draft of the snapshot, which is opened at the first call; null if the workflow is not known. Only joins need it. */
  draft(): Draft | null;
}

/** The largest length of an error message in a sentence, in characters. */
const maxErrorLength = 160;
/** The largest length of the key of a rate in a sentence, in characters. */
const maxKeyLength = 80;

/** Returns what is needed to explain a snapshot. A `workflow` that is not the workflow of the snapshot is ignored. */
export function explainContext(snapshot: Snapshot, workflow: CompiledWorkflow | undefined, isHeld: boolean): ExplainContext {
  const own = workflow?.hash === snapshot.definition.hash ? workflow : undefined;
  const workflowIn = (scope: string): CompiledWorkflow | undefined => own && workflowOf(own, snapshot, scope);
  let draft: Draft | null = null;
  return {
    snapshot,
    survey: survey(snapshot, workflowIn),
    isHeld,
    address: addresses(snapshot),
    workflow: workflowIn,
    draft: () => {
      if (own) draft ??= openDraft(own, snapshot);
      return draft;
    },
  };
}

/** Explains one open path. */
export function explainPath(telling: ExplainContext, { scope, path }: Placed): PlaceInfo {
  const address = telling.address(scope, path.nodeId);
  const waits = waitsOf(path, address, telling.snapshot.schemas);
  const items = itemCounts(path, groupOfPath(telling, scope, path));
  return {
    address,
    pathId: scopedKey(scope, path.id),
    status: path.status,
    ...unmarked(sentenceOf(telling, scope, path, waits)),
    waits,
    until: movesAt(path),
    ...(items && { items }),
  };
}

/** Returns the sentence about one open path, with its address, and with the marks in it. */
export function pathSentence(telling: ExplainContext, { scope, path }: Placed): string {
  const address = telling.address(scope, path.nodeId);
  return `${addressMark(address)} ${sentenceOf(telling, scope, path, waitsOf(path, address, telling.snapshot.schemas))}`;
}

/** Returns the node of a path; null if the workflow is not known, or if the path undoes a step. */
export function nodeOfPath(telling: ExplainContext, { scope, path }: Placed): CompiledNode | null {
  const node = telling.workflow(scope)?.nodes.get(path.nodeId) ?? null;
  return path.undoes ? null : node;
}

function groupOfPath({ survey }: ExplainContext, scope: string, { children }: ActivePath): ReturnType<Survey["groups"]["get"]> {
  return children && survey.groups.get(scopedKey(scope, children.key));
}

function sentenceOf(telling: ExplainContext, scope: string, path: ActivePath, waits: readonly WaitInfo[]): string {
  const { status, attempts, resumed, undoes, children } = path;
  const undone = undoes ? `is being undone${itemText(undoes.scope)}` : null;
  const node = nodeOfPath(telling, { scope, path });
  switch (status) {
    case "ready": {
      if (heldUp(telling.snapshot, scope)) return "waits for a free slot: its map runs as many items at once as its concurrency allows";
      if (undone !== null) return undone;
      const attempt = attempts > 0 ? ` (attempt ${attempts + 1})` : "";
      const what = holdsCode(path, telling.workflow(scope)) ? " its code" : "";
      if (telling.isHeld) return `${resumed ? "is going on" : "is running"}${what}${attempt}`;
      return `${resumed ? "is ready to go on" : "is ready to run"}${what}${attempt}${rateText(telling.snapshot)}`;
    }
    case "retrying":
      return `${undone === null ? "" : `${undone}; it `}${retryText(telling, scope, path)}`;
    case "joining":
      return joinText(telling.draft(), scope, path);
    case "held":
      return holdText(node, pathsOf(telling.snapshot, scope), telling.workflow(scope)?.nodes ?? null);
    case "suspended": {
      if (isResting(path)) return "waits for its steps";
      const text = children ? childrenText(path, children, groupOfPath(telling, scope, path), node) : waitText(waits, node);
      return undone === null ? text : `${undone}; it ${text}`;
    }
  }
}

/** Describes the rate limit of an execution that has not performed a step yet. */
function rateText({ rate, steps }: Snapshot): string {
  if (!rate || steps > 0) return "";
  const { key, limit, periodMs } = rate;
  return `, as soon as its rate limit allows: at most ${counted(limit)} ${limit === 1 ? "start" : "starts"} with the key "${cut(key, maxKeyLength)}" in ${periodMs / 1000} s`;
}

function retryText({ snapshot }: ExplainContext, scope: string, { nodeId, attempts, nextRetryAt = 0, undoes }: ActivePath): string {
  const context = scope === "" ? snapshot.context : snapshot.childStates![scope]!.context;
  // the result of a compensation is not a result of its node
  const last = undoes || !Object.hasOwn(context, nodeId) ? undefined : context[nodeId]!.at(-1);
  const reason = last?.error ? `: ${cut(last.error, maxErrorLength)}` : "";
  return `failed (attempt ${attempts})${reason}; is tried again at ${timeMark(nextRetryAt)}`;
}

/** Returns ` (item 3)` for the scope of an item of a map; an empty text for other scopes. */
export function itemText(scope: string | undefined): string {
  const item = scope === undefined ? null : itemOf(scope);
  return item === null ? "" : ` (item ${item})`;
}
