import type { ClaimOptions, Commit, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { claimAndLoad, type LoadedClaim } from "../../claim-and-load.ts";
import { startCommit } from "../../commit-builder.ts";
import { present } from "../../expectations.ts";
import { longLeaseMs } from "./claiming.ts";

/** The concurrency key of an execution, and its limit; null: none. */
export type PermitOf = readonly [key: string, limit: number] | null;

/** Makes the first commit of an execution with a concurrency key. */
export function permitted(workflowId: string, wanted: PermitOf, options: Parameters<typeof startCommit>[1] = {}): Commit {
  const commit = startCommit(workflowId, options);
  if (!wanted) return commit;
  const permit = { key: wanted[0], limit: wanted[1] };
  const [event, ...others] = commit.events;
  return { ...commit, head: { ...commit.head, permit }, events: [{ ...event!, permit } as Commit["events"][number], ...others] };
}

/** Creates an execution with a concurrency key. */
export async function create(
  store: SnapshotStore,
  workflowId: string,
  wanted: PermitOf,
  options: Parameters<typeof startCommit>[1] = {},
): Promise<Commit> {
  const commit = permitted(workflowId, wanted, options);
  await store.create(commit);
  return commit;
}

/** Creates executions, by their ids. */
export async function fill(store: SnapshotStore, executions: Readonly<Record<string, PermitOf>>): Promise<void> {
  for (const [id, wanted] of Object.entries(executions)) await create(store, id, wanted);
}

/** Claims one execution, which must be there, and loads it. */
export async function claimPermitted(store: SnapshotStore, asked: Partial<ClaimOptions>): Promise<LoadedClaim> {
  const [claimed] = await claimAndLoad(store, { owner: "worker", leaseMs: longLeaseMs, limit: 1, ...asked });
  return present(claimed, "a claim");
}
