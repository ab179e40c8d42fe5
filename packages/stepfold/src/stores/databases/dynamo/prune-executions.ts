import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { PruneReport } from "../../../ports/snapshot-store.ts";
import type { CheckedPrune } from "../../kit/checked-store.ts";
import { refuseDelete } from "../../kit/verdict.ts";
import { entriesBefore } from "./agenda.ts";
import type { Item } from "./dynamo-client.ts";
import { type Head, readHead, type Tombstone, tombstoneOf } from "./dynamo-heads.ts";
import { headKey, sortable, storedText, turnAt, turnsUntil } from "./dynamo-keys.ts";
import { type Connection, conditional, itemAt } from "./dynamo-requests.ts";
import { conditionOf } from "./expression.ts";
import { forgetRows } from "./permit-row.ts";
import { sweep } from "./sweep.ts";

/** Executions deleted at once. */
const together = 8;
/** Longest output that a tombstone keeps. */
const mostOutput = 64 * 1024;
/** Rows of permits looked at in one prune. */
const mostRows = 1000;
/** Tombstones cleared away in one prune. */
const mostTombstones = 1000;

/** Deletes one ended execution. */
export async function deleteExecution(connection: Connection, workflowId: string): Promise<void> {
  for (;;) {
    const head = await readHead(connection, workflowId);
    refuseDelete(workflowId, head?.status ?? null);
    if (head && (await bury(connection, head))) return;
  }
}

/** Deletes ended executions, those first that were changed least recently; ends deletes that were begun, and forgets ids whose retention is over. */
export async function pruneExecutions(
  connection: Connection,
  { before, definitionId, statuses, limit, dryRun }: CheckedPrune,
): Promise<PruneReport> {
  if (!dryRun) await Promise.all([clearAway(connection), forgetRows(connection, mostRows)]);
  const lanes = [...new Set(statuses)];
  const entries = await entriesBefore(connection, { lanes, before: sortable(Math.ceil(before)), limit, definitionId });
  let executions = 0;
  let events = 0;
  await inGroups(entries, async ({ workflowId }) => {
    const head = await intactHead(connection, workflowId);
    // the index may lag
    const isEnded = head?.endedAt != null && head.endedAt < before && lanes.some((status) => status === head.status);
    if (!isEnded || (!dryRun && !(await bury(connection, head)))) return;
    executions++;
    // versions begin with 0 and have no gaps
    events += head.version + 1;
  });
  return { executions, events };
}

/**
 * Leaves a tombstone in the place of a head, which is one write: whoever reads from then on finds nothing. Then the rows
 * go. If that ends early the next prune goes on; rows carry the incarnation, so no other execution ever meets them.
 */
async function bury(connection: Connection, head: Head): Promise<boolean> {
  const { client, table, keys, now } = connection;
  const { pk, workflowId, incarnation } = head;
  const tombstone: Tombstone = { incarnation, deletedAt: now(), unswept: true };
  const output = outputOf(head);
  const item: Item = {
    ...{ pk, sk: headKey, incarnation: storedText(incarnation), status: head.status, deletedAt: tombstone.deletedAt, unswept: 1 },
    ...{ lane: keys.lane("sweep", keys.shardOf(workflowId)), turn: turnAt(tombstone.deletedAt) },
    ...(output !== null && { output }),
  };
  const condition = conditionOf([
    ["incarnation", "=", storedText(incarnation)],
    ["endedAt", "exists"],
  ]);
  const outcome = await conditional(() =>
    client.put({ TableName: table, Item: item, ...condition, ReturnValuesOnConditionCheckFailure: "ALL_OLD" }),
  );
  if ("stored" in outcome) {
    const found = tombstoneOf(outcome.stored);
    // the answer to a first attempt was lost
    if (found?.incarnation !== incarnation || found.deletedAt !== tombstone.deletedAt) return false;
  }
  await sweep(connection, workflowId, tombstone).catch(() => undefined);
  return true;
}

/** Ends deletes that were begun, and forgets ids whose retention is over. */
async function clearAway(connection: Connection): Promise<void> {
  const { client, table, keys, now, retentionMs } = connection;
  const unswept = await entriesBefore(connection, { lanes: ["sweep"], before: "~", limit: mostTombstones });
  await inGroups(unswept, async ({ workflowId }) => {
    const tombstone = tombstoneOf(await itemAt(connection, { pk: keys.execution(workflowId), sk: headKey }));
    if (tombstone?.unswept) await sweep(connection, workflowId, tombstone);
  });
  const until = now() - retentionMs;
  const expired = await entriesBefore(connection, { lanes: ["deleted"], before: turnsUntil(until), limit: mostTombstones });
  const condition = conditionOf([
    ["deletedAt", "<=", until],
    ["unswept", "absent"],
  ]);
  await inGroups(expired, async ({ workflowId }) => {
    await conditional(() => client.delete({ TableName: table, Key: { pk: keys.execution(workflowId), sk: headKey }, ...condition }));
  });
}

async function inGroups<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < all.length; at += together) await Promise.all(all.slice(at, at + together).map(work));
}

async function intactHead(connection: Connection, workflowId: string): Promise<Head | null> {
  try {
    return await readHead(connection, workflowId);
  } catch (error) {
    if (StepfoldError.is(error, "STORE_REJECTED")) return null;
    throw error;
  }
}

/** The outcome of an execution as JSON, if it has one that is not too long. */
function outputOf({ head: { text } }: Head): string | null {
  try {
    const output = JSON.stringify((JSON.parse(text ?? "{}") as { output?: unknown }).output);
    return output !== undefined && output.length <= mostOutput ? output : null;
  } catch {
    return null;
  }
}
