import type { CompiledWorkflow } from "./compiled.ts";
import type { EpochMs } from "./json.ts";
import { safeMember } from "./safe-member.ts";
import { type ActivePath, isTerminal, type Snapshot, type Wait } from "./snapshot.ts";
import { StepfoldError } from "./stepfold-error.ts";

/** Which wait is meant: by its node, by its id, or as text that is either. */
export type Target = string | { readonly node: string } | { readonly waitId: string };

/** A wait that a payload may answer, and the path it holds. */
export interface OpenWait {
  readonly path: ActivePath;
  readonly wait: Wait;
}

/** Every wait that a payload may answer, in order of the paths. */
export function openWaits(snapshot: Pick<Snapshot, "activePaths">): OpenWait[] {
  return snapshot.activePaths.flatMap((path) =>
    (path.waits ?? []).filter(({ kind }) => kind === "external").map((wait) => ({ path, wait })),
  );
}

/**
 * The wait that a resume is for. Without a target: the only one there is.
 *
 * @throws StepfoldError `EXECUTION_ENDED`, `RESUME_AMBIGUOUS` (the details list the waits), `WAIT_GONE`, `WAIT_EXPIRED`, `NODE_UNKNOWN`, `OPTION_INVALID`
 */
export function findWait(workflow: CompiledWorkflow, snapshot: Snapshot, target: Target | undefined, now: EpochMs): OpenWait {
  const { workflowId, status } = snapshot;
  if (isTerminal(status)) throw new StepfoldError("EXECUTION_ENDED", { workflowId, status });
  const open = openWaits(snapshot);
  const { node, waitId } = read(target);
  if (node !== undefined && !workflow.nodes.has(node))
    throw new StepfoldError("NODE_UNKNOWN", { nodeId: node, workflow: workflow.definition.id });
  const meant = open.filter(
    ({ path, wait }) => (node === undefined || path.nodeId === node) && (waitId === undefined || wait.id === waitId),
  );
  if (meant.length > 1)
    throw new StepfoldError("RESUME_AMBIGUOUS", {
      workflowId,
      waits: meant.map(({ path, wait }) => ({ id: wait.id, nodeId: path.nodeId })),
    });
  const found = meant[0];
  if (!found)
    throw new StepfoldError("WAIT_GONE", {
      workflowId,
      target: node ?? waitId ?? "any node",
      open: open.map(({ path, wait }) => `${path.nodeId} (${wait.id})`),
    });
  const { timeoutAt } = found.wait;
  if (timeoutAt !== undefined && timeoutAt <= now)
    throw new StepfoldError("WAIT_EXPIRED", { workflowId, waitId: found.wait.id, timeoutAt });
  return found;
}

/** Targets come from outside too: from the body of a request. */
function named(target: Exclude<Target, string>): { node?: string; waitId?: string } {
  const node = safeMember(target, "node");
  const waitId = safeMember(target, "waitId");
  if (typeof node === "string") return { node };
  if (typeof waitId === "string") return { waitId };
  throw new StepfoldError("OPTION_INVALID", { option: "target", reason: "must be text, { node } or { waitId }" });
}

function read(target: Target | undefined): { node?: string; waitId?: string } {
  if (target === undefined) return {};
  if (typeof target !== "string") return named(target);
  // a node's id has no "@", a wait's always has
  return target.includes("@") ? { waitId: target } : { node: target };
}
