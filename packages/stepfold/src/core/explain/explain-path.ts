import type { CompiledNode, CompiledWorkflow } from "../definition/compiled.ts";
import { itemOf, pathsOf, scopedKey } from "../snapshot/address.ts";
import type { ActivePath, Snapshot } from "../snapshot/snapshot.ts";
import type { Draft } from "../transition/draft/draft.ts";
import { openDraft } from "../transition/draft/open-draft.ts";
import { workflowOf } from "../transition/find-wait.ts";
import type { EpochMs } from "../values/json.ts";
import { holdText, joinText } from "./explain-hold.ts";
import { childrenText, type ItemCounts, itemCounts } from "./explain-items.ts";
import { heldUp, movesAt, type Placed, type Survey } from "./explain-survey.ts";
import { waitText } from "./explain-wait.ts";
import { counted, cut, iso } from "./explain-words.ts";
import { type WaitInfo, waitsOf } from "./waits.ts";
import { addresses } from "./waits-address.ts";

/** One place where an execution stands. */
export interface PlaceInfo {
  /** `approve`, `map[3]/approve`. */
  readonly address: string;
  /** Id of the path, with the child that it is in. */
  readonly pathId: string;
  readonly status: ActivePath["status"];
  /** What it does or waits for, and what happens then; the address is its subject: `waits for an answer from ada`. */
  readonly sentence: string;
  readonly waits: readonly WaitInfo[];
  /** When it moves by itself; null if it needs an answer, or something else has to happen first. */
  readonly until: EpochMs | null;
  /** Of a map: how its items stand. */
  readonly items?: ItemCounts;
}

/** What is needed to explain the paths of an execution. */
export interface ExplainContext {
  readonly snapshot: Snapshot;
  readonly survey: Survey;
  address(scope: string, nodeId: string): string;
  /** What is known of a scope's workflow; null if nothing is. */
  workflow(scope: string): CompiledWorkflow | undefined;
  /** For joins, which are rare: opened when first asked for. */
  draft(): Draft | null;
}

const maxErrorLength = 160;
const maxKeyLength = 80;

/** What is needed to tell about a snapshot. @param workflow another one than the snapshot's says nothing about it */
export function explainContext(snapshot: Snapshot, survey: Survey, workflow: CompiledWorkflow | undefined): ExplainContext {
  const own = workflow?.hash === snapshot.definition.hash ? workflow : undefined;
  let draft: Draft | null = null;
  return {
    snapshot,
    survey,
    address: addresses(snapshot),
    workflow: (scope) => own && workflowOf(own, snapshot, scope),
    draft: () => {
      if (own) draft ??= openDraft(own, snapshot);
      return draft;
    },
  };
}

/** One open path, explained. */
export function explainPath(telling: ExplainContext, { scope, path }: Placed): PlaceInfo {
  const address = telling.address(scope, path.nodeId);
  const waits = waitsOf(path, address, telling.snapshot.schemas);
  const items = itemCounts(path, groupOfPath(telling, scope, path));
  return {
    address,
    pathId: scopedKey(scope, path.id),
    status: path.status,
    sentence: sentenceOf(telling, scope, path, waits),
    waits,
    until: movesAt(path),
    ...(items && { items }),
  };
}

/** What is known of a path's node. */
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
      if (heldUp(telling.snapshot, scope)) return "waits for a place: its map runs as many items at once as it may";
      if (undone !== null) return undone;
      return `${resumed ? "is to go on" : "is to run"}${attempts > 0 ? ` (attempt ${attempts + 1})` : ""}${rateText(telling.snapshot)}`;
    }
    case "retrying":
      return `${undone === null ? "" : `${undone}; it `}${retryText(telling, scope, path)}`;
    case "joining":
      return joinText(telling.draft(), scope, path);
    case "held":
      return holdText(node, pathsOf(telling.snapshot, scope), telling.workflow(scope)?.nodes ?? null);
    case "suspended": {
      const text = children ? childrenText(path, children, groupOfPath(telling, scope, path), node) : waitText(waits, node);
      return undone === null ? text : `${undone}; it ${text}`;
    }
  }
}

/** Of one that has not begun: how fast it may. */
function rateText({ rate, steps }: Snapshot): string {
  if (!rate || steps > 0) return "";
  const { key, limit, periodMs } = rate;
  return `, as soon as its rate limit allows: ${counted(limit)} of "${cut(key, maxKeyLength)}" begin in ${periodMs / 1000} s, at most`;
}

function retryText({ snapshot }: ExplainContext, scope: string, { nodeId, attempts, nextRetryAt = 0, undoes }: ActivePath): string {
  const context = scope === "" ? snapshot.context : snapshot.childStates![scope]!.context;
  // the result of a compensation is not a result of its node
  const last = undoes || !Object.hasOwn(context, nodeId) ? undefined : context[nodeId]!.at(-1);
  const reason = last?.error === undefined ? "" : `: ${cut(last.error, maxErrorLength)}`;
  return `failed (attempt ${attempts})${reason}; is tried again at ${iso(nextRetryAt)}`;
}

/** Names the item of a map by the key of its scope. */
export function itemText(scope: string | undefined): string {
  const item = scope === undefined ? null : itemOf(scope);
  return item === null ? "" : ` (item ${item})`;
}
