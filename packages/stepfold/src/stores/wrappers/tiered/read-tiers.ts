import type { Snapshot, SnapshotHead } from "../../../core/snapshot/snapshot.ts";
import { snapshotHead } from "../../../core/snapshot/snapshot-head.ts";
import type { AppendedRow } from "../../../ports/snapshot-store.ts";
import { withoutMarks } from "./cold-copy.ts";
import { loadCold } from "./load-cold.ts";
import { isRedirect, isRedirectRow } from "./redirect.ts";
import type { Tiers } from "./tiers.ts";

/** Loads an execution. Executions move from hot to cold and never back, so the cold store is read last. */
export async function loadFromTiers({ hot, cold }: Tiers, workflowId: string): Promise<Snapshot | null> {
  const snapshot = await hot.load(workflowId);
  if (snapshot && !isRedirect(snapshot)) return snapshot;
  const live = await loadCold(cold, workflowId, snapshot !== null);
  return live && withoutMarks(live);
}

/** Loads a head. An execution in the cold store is loaded as a whole, because its copy may have to be completed first. */
export async function loadHeadFromTiers(tiers: Tiers, workflowId: string): Promise<SnapshotHead | null> {
  const head = await tiers.hot.loadHead(workflowId);
  if (head && !isRedirect(head)) return head;
  const live = await loadFromTiers(tiers, workflowId);
  if (!live) return null;
  const { input: _, ...others } = snapshotHead(live);
  return others;
}

/** Reads the history of an execution. The rows before the one that made a redirect are the same in both stores. */
export async function eventsFromTiers(
  { hot, cold }: Tiers,
  workflowId: string,
  afterVersion: number,
  limit: number,
): Promise<readonly AppendedRow[]> {
  const rows = await hot.events(workflowId, afterVersion, limit);
  const last = rows.at(-1);
  if (last && !isRedirectRow(last)) return rows;
  if (last) await loadCold(cold, workflowId, true);
  return cold.events(workflowId, afterVersion, limit);
}
