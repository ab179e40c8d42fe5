import { addressOf, openScopes, ownerOf } from "./address.ts";
import { itemOf } from "./child-key.ts";
import type { CompiledWorkflow } from "./compiled.ts";
import type { EpochMs } from "./json.ts";
import { safeMember } from "./safe-member.ts";
import { type ActivePath, isTerminal, type Snapshot, type Wait } from "./snapshot.ts";
import { StepfoldError } from "./stepfold-error.ts";

/**
 * Which wait is meant: by its id, by its node, by its node in an item of a map, or as text: an id, a node, or an address
 * such as `map[3]/approve`.
 */
export type Target = string | { readonly node: string; readonly item?: number | undefined } | { readonly waitId: string };

/** A wait, and the path it holds. */
export interface OpenWait {
  /** Key of the child that the path is in; empty for the execution itself. */
  readonly scope: string;
  readonly path: ActivePath;
  readonly wait: Wait;
}

/** Every wait that a payload may answer, in order of the paths, those of children after. */
export function openWaits(snapshot: Pick<Snapshot, "activePaths" | "childStates">): OpenWait[] {
  const open: OpenWait[] = [];
  for (const [scope, paths] of openScopes(snapshot)) {
    for (const path of paths) for (const wait of path.waits ?? []) if (wait.kind === "external") open.push({ scope, path, wait });
  }
  return open;
}

/**
 * The wait that a resume is for. Without a target: the only one there is.
 *
 * @throws StepfoldError `EXECUTION_ENDED`, `RESUME_AMBIGUOUS` (the details list the waits), `WAIT_GONE`, `WAIT_EXPIRED`, `NODE_UNKNOWN`, `OPTION_INVALID`
 */
export function findWait(workflow: CompiledWorkflow, snapshot: Snapshot, target: Target | undefined, now: EpochMs): OpenWait {
  const { workflowId, status } = snapshot;
  if (isTerminal(status)) throw new StepfoldError("EXECUTION_ENDED", { workflowId, status });
  const wanted = readTarget(target);
  requireNode(workflow, wanted);
  const open = openWaits(snapshot);
  const meant = open.filter((wait) => isMeant(snapshot, wait, wanted));
  const named = ({ scope, path, wait }: OpenWait): { id: string; nodeId: string } => {
    return { id: wait.id, nodeId: addressOf(snapshot, scope, path.nodeId) };
  };
  if (meant.length > 1) throw new StepfoldError("RESUME_AMBIGUOUS", { workflowId, waits: meant.slice(0, mostListed).map(named) });
  const found = meant[0];
  if (!found) {
    const listed = open.slice(0, mostListed).map(named);
    throw new StepfoldError("WAIT_GONE", { workflowId, target: textOf(wanted), open: listed.map(({ id, nodeId }) => `${nodeId} (${id})`) });
  }
  const timeoutAt = deadlineOf(found);
  if (timeoutAt !== undefined && timeoutAt <= now)
    throw new StepfoldError("WAIT_EXPIRED", { workflowId, waitId: found.wait.id, timeoutAt });
  return found;
}

/** When it is too late for a wait: at its own deadline, or when another wait of its path has come true by its time. */
function deadlineOf({ path, wait }: OpenWait): EpochMs | undefined {
  const times = path.waits!.flatMap((other) => [other === wait ? undefined : other.resumeAt, other.timeoutAt]);
  const known = times.filter((time) => time !== undefined);
  return known.length > 0 ? Math.min(...known) : undefined;
}

const mostListed = 100;

/** A target, taken apart. */
export interface Wanted {
  readonly waitId?: string;
  /** Id of a node. */
  readonly node?: string;
  /** Index of the item that it is in. */
  readonly item?: number;
  /** Instead of a node's id: the whole way to it. */
  readonly address?: string;
}

/** @throws StepfoldError `OPTION_INVALID` */
export function readTarget(target: Target | undefined): Wanted {
  if (target === undefined) return {};
  // a node's id has neither "@" nor "/", a wait's id always has the first, an address may have the second
  if (typeof target === "string") return target.includes("@") ? { waitId: target } : placeOf(target);
  // targets come from outside too: from the body of a request
  const node = safeMember(target, "node");
  const waitId = safeMember(target, "waitId");
  const item = safeMember(target, "item");
  if (typeof waitId === "string") return { waitId };
  if (typeof node !== "string" || (item !== undefined && !(Number.isSafeInteger(item) && (item as number) >= 0)))
    throw new StepfoldError("OPTION_INVALID", { option: "target", reason: "must be text, { node }, { node, item } or { waitId }" });
  return item === undefined ? placeOf(node) : { node, item: item as number };
}

function placeOf(text: string): Wanted {
  const item = /^([^/[\]]+)\[(\d+)\]$/.exec(text);
  if (item) return { node: item[1]!, item: Number(item[2]) };
  return text.includes("/") ? { address: text } : { node: text };
}

function isMeant(snapshot: Snapshot, { scope, path, wait }: OpenWait, { waitId, node, item, address }: Wanted): boolean {
  if (waitId !== undefined) return wait.id === waitId;
  if (address !== undefined) return address.endsWith(`/${path.nodeId}`) && addressOf(snapshot, scope, path.nodeId) === address;
  if (node === undefined) return true;
  if (item === undefined) return path.nodeId === node;
  return scope !== "" && itemOf(scope) === item && (path.nodeId === node || ownerOf(snapshot, scope)?.nodeId === node);
}

/** @throws StepfoldError `NODE_UNKNOWN` */
function requireNode(workflow: CompiledWorkflow, { node }: Wanted): void {
  if (node === undefined || workflow.nodes.has(node)) return;
  for (const inner of workflow.workflows.values()) if (inner.nodes.has(node)) return;
  throw new StepfoldError("NODE_UNKNOWN", { nodeId: node, workflow: workflow.definition.id });
}

/** A target as text. */
export function textOf({ waitId, node, item, address }: Wanted): string {
  return waitId ?? address ?? (node === undefined ? "any node" : item === undefined ? node : `${node}[${item}]`);
}
