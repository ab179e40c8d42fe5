import type { Snapshot } from "../../../core/snapshot/snapshot.ts";
import type { AppendedRow } from "../../../ports/snapshot-store.ts";
import { unmarked } from "./cold-copy.ts";
import type { Tiers } from "./copy-execution.ts";
import { liveInCold } from "./load-cold.ts";
import { isStub, isStubRow } from "./redirect.ts";

/** The snapshot from where the execution lives. It only ever moves to the cold store, so that one is asked last. */
export async function loadFromTiers({ hot, cold }: Tiers, workflowId: string): Promise<Snapshot | null> {
  const snapshot = await hot.load(workflowId);
  if (snapshot && !isStub(snapshot)) return snapshot;
  const live = await liveInCold(cold, workflowId, snapshot !== null);
  return live && unmarked(live);
}

/** History from where the execution lives. What a stub still holds of it is the same in both. */
export async function eventsFromTiers(
  { hot, cold }: Tiers,
  workflowId: string,
  afterVersion: number,
  limit: number,
): Promise<readonly AppendedRow[]> {
  const rows = await hot.events(workflowId, afterVersion, limit);
  const last = rows.at(-1);
  if (last && !isStubRow(last)) return rows;
  if (last) await liveInCold(cold, workflowId, true);
  return cold.events(workflowId, afterVersion, limit);
}
