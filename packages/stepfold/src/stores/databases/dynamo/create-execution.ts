import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Permit } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { Claim, Commit, Lease } from "../../../ports/snapshot-store.ts";
import { repeatedCreation } from "../../kit/verdict.ts";
import type { WrittenCommit } from "../../kit/written-commit.ts";
import { noteLines } from "./claim-lines.ts";
import type { Attribute } from "./dynamo-client.ts";
import { headOf, noteKey, type Tombstone, tombstoneOf } from "./dynamo-heads.ts";
import { headKey, storedText, turnAt } from "./dynamo-keys.ts";
import { type Connection, remember, transact } from "./dynamo-requests.ts";
import { agendaOf, prepare, present, writerAt } from "./dynamo-writes.ts";
import { conditionOf, type Test } from "./expression.ts";
import { dropTexts, holdText } from "./long-text.ts";
import { sweep } from "./sweep.ts";
import { tagsOf } from "./tags.ts";

/** What a first commit fixes, as text. */
export interface Fixed {
  readonly definition: string;
  readonly definitionId: string;
  readonly metadata: string;
  readonly tags: readonly string[] | null;
  readonly permit: Permit | null;
}

/** Longest metadata that lie in the head: every commit pays for its size. */
const mostInHead = 1024;

/** Writes down what a first commit fixes. */
export function fixedBy({ head: { definition, metadata, permit } }: Commit): Fixed {
  return {
    definition: JSON.stringify(definition),
    definitionId: storedText(definition.id),
    metadata: JSON.stringify(metadata),
    tags: tagsOf(metadata),
    permit: permit ?? null,
  };
}

/** Makes the write of a new execution. */
export async function writeCreation(
  connection: Connection,
  written: WrittenCommit,
  { permit, ...fixed }: Fixed,
  asked: Lease | undefined,
): Promise<Claim | null> {
  // one with a permit is never claimed with its creation
  const lease = permit ? undefined : asked;
  if (permit) await noteLines(connection);
  const { workflowId, incarnation, ended } = written;
  const prepared = await prepare(connection, written);
  const { pk } = prepared;
  const metadata = await holdText(connection, { pk, incarnation }, fixed.metadata, mostInHead);
  const drop = (): Promise<void> => dropTexts(connection, { pk, incarnation }, [...prepared.texts, metadata]);
  for (let replaced: Tombstone | null = null; ; ) {
    const now = connection.now();
    const made = connection.stamp(now);
    const held = lease && !ended ? { owner: storedText(lease.owner), fence: 1, nextCrashes: 1, turn: turnAt(now + lease.leaseMs) } : null;
    const fields = { ...fixed, metadata: metadata.text, metadataParts: metadata.parts, made, updatedAt: now };
    const head = {
      TableName: connection.table,
      Item: { pk, sk: headKey, ...present({ ...prepared.head, ...fields, ...standing(connection, written, permit, made), ...held }) },
      ...conditionOf(vacancy(replaced)),
      ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const,
    };
    const outcome = await transact(connection, [{ Put: head }, ...prepared.rows]);
    if ("value" in outcome) {
      remember(connection.stamps, noteKey(pk, incarnation), made);
      return lease && held ? claimOf(written, lease, now) : null;
    }
    const tombstone = tombstoneOf(outcome.stored);
    const stored = headOf(connection, outcome.stored);
    if (stored) {
      const isOther = stored.incarnation !== incarnation;
      const writer = isOther ? null : await writerAt(connection, written, stored);
      if (isOther) await drop();
      // the first claim is as old as the execution
      return repeatedCreation(written, stored, writer, lease, Number.parseInt(stored.made, 10));
    }
    if (tombstone && tombstone.deletedAt + connection.retentionMs > connection.now()) {
      await drop();
      throw new StepfoldError("WORKFLOW_EXISTS", { workflowId, deletedAt: tombstone.deletedAt });
    }
    // rows that are left would never be found again
    replaced = tombstone?.unswept ? await sweep(connection, workflowId, tombstone) : tombstone;
  }
}

/** Where a new execution stands in the indexes. */
function standing(connection: Connection, written: WrittenCommit, permit: Permit | null, made: string): Record<string, Attribute | null> {
  const { keys } = connection;
  const shard = keys.shardOf(written.workflowId);
  const incarnation = storedText(written.incarnation);
  const lane = permit ? keys.lane("turns", keys.shardOf(permit.key)) : keys.lane("due", shard);
  const place = { shelf: keys.shelf(shard), lane, ...agendaOf(connection, written, permit?.key ?? null, made) };
  return { incarnation, fence: 0, ...(permit && { permitKey: storedText(permit.key), permitLimit: permit.limit }), ...place };
}

function claimOf({ workflowId, incarnation }: WrittenCommit, { owner, leaseMs }: Lease, claimedAt: EpochMs): Claim {
  return { workflowId, incarnation, owner, leaseMs, fence: 1, claimedAt, crashes: 0 };
}

/** What must hold for an id to be free. */
function vacancy(replaced: Tombstone | null): Test[] {
  if (!replaced) return [["pk", "absent"]];
  return [
    ["incarnation", "=", storedText(replaced.incarnation)],
    ["deletedAt", "=", replaced.deletedAt],
    ["unswept", "absent"],
  ];
}
