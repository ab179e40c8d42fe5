import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { isTerminal } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { Claim, Lease } from "../../../ports/snapshot-store.ts";
import { refusal, repeatedCreation } from "../../kit/verdict.ts";
import type { WrittenCommit } from "../../kit/written-commit.ts";
import type { Verdict } from "../../record/group-commit.ts";
import { type Accepted, append } from "./append.ts";
import { amongValues, each } from "./batches.ts";
import { changeExecutions, insertExecutions } from "./executions.ts";
import { type Locked, lockedRows, writersOf } from "./locked.ts";
import { numberOf, type Session, textOf } from "./mysql-session.ts";
import type { Settings } from "./tables.ts";
import type { NewExecution, Write } from "./write.ts";

/**
 * Makes writes of different executions in one transaction, in as many round trips as one of them takes.
 *
 * All rows are locked before anything is judged, so what is read of them is what is there until the end.
 */
export async function writeGroup(session: Session, settings: Settings, writes: readonly Write[]): Promise<Verdict<Claim | null>[]> {
  const { tables, maxBytes } = settings;
  const creator = crypto.randomUUID();
  const creations = writes.filter((write): write is NewExecution => write.creation !== undefined);
  await insertExecutions(session, tables, creations, creator, maxBytes);

  const stored = await lockedRows(
    session,
    tables,
    writes.map(({ written }) => written.workflowId),
  );
  const isMine = ({ written, creation }: Write): boolean => creation !== undefined && stored.get(written.workflowId)?.creator === creator;
  const taken = await takenIds(session, settings, creations.filter(isMine), stored);
  const held = writes.filter((write) => !isMine(write) && !isAllowed(write, stored.get(write.written.workflowId)));
  const writers = await writersOf(session, tables, placesOf(held, stored));

  const accepted: Accepted[] = [];
  const verdicts = writes.map((write): Verdict<Claim | null> => {
    const { written, creation } = write;
    const row = stored.get(written.workflowId) ?? null;
    const deletedAt = taken.get(written.workflowId);
    if (deletedAt !== undefined && isMine(write)) {
      return { refused: new StepfoldError("WORKFLOW_EXISTS", { workflowId: written.workflowId, deletedAt }) };
    }
    if (row && (isMine(write) || isAllowed(write, row))) {
      accepted.push({ seq: row.seq, written });
      return { value: creation ? firstClaim(written, creation.lease, row) : null };
    }
    const writer = row && (writers.get(`${row.seq}.${written.expectedVersion + 1}`) ?? null);
    return creation && row ? repeated(written, creation.lease, row, writer) : refusedOrDone(write, row, writer);
  });

  const changes = accepted.filter(({ written }) => written.expectedVersion >= 0);
  await changeExecutions(session, tables, changes, stored, maxBytes);
  await append(session, tables, accepted, maxBytes);
  return verdicts;
}

/** Whether the guard lets a commit through. A creation of an id that was there is none that it lets through. */
function isAllowed({ written, creation }: Write, stored: Locked | undefined): boolean {
  if (creation || !stored) return false;
  const { incarnation, expectedVersion, fence } = written;
  const isHolder = fence === null || (stored.owner !== null && stored.fence === fence);
  return stored.incarnation === incarnation && stored.version === expectedVersion && !isTerminal(stored.status) && isHolder;
}

function placesOf(held: readonly Write[], stored: ReadonlyMap<string, Locked>): [number, number][] {
  return held.flatMap(({ written: { workflowId, expectedVersion } }) => {
    const row = stored.get(workflowId);
    return row ? [[row.seq, expectedVersion + 1] as [number, number]] : [];
  });
}

function refusedOrDone({ written }: Write, row: Locked | null, writer: string | null): Verdict<null> {
  const refused = refusal(written, row, writer);
  return refused ? { refused } : { value: null };
}

function repeated(written: WrittenCommit, lease: Lease | undefined, row: Locked, writer: string | null): Verdict<Claim | null> {
  try {
    return { value: repeatedCreation(written, row, writer, lease, claimedAt(row, lease)) };
  } catch (refused) {
    return { refused };
  }
}

function firstClaim({ workflowId, incarnation, ended }: WrittenCommit, lease: Lease | undefined, row: Locked): Claim | null {
  if (!lease || ended) return null;
  return { workflowId, incarnation, owner: lease.owner, leaseMs: lease.leaseMs, fence: 1, claimedAt: claimedAt(row, lease), crashes: 0 };
}

/** When the lease that is stored began. */
function claimedAt({ leaseUntil, now }: Locked, lease: Lease | undefined): EpochMs {
  return leaseUntil === null || !lease ? now : leaseUntil - lease.leaseMs;
}

/**
 * Ids that were deleted a while ago and are still taken: what was just inserted for them is removed. Looked up after the insert,
 * which waited for whoever was deleting. Tombstones that are too old are removed.
 */
async function takenIds(
  session: Session,
  { tables: { tombstones, executions }, retentionMs }: Settings,
  inserted: readonly Write[],
  stored: ReadonlyMap<string, Locked>,
): Promise<Map<string, EpochMs>> {
  if (inserted.length === 0) return new Map();
  const ids = amongValues(inserted.map(({ written }) => written.workflowId));
  const found = await session.rows(`SELECT id, deleted_at FROM ${tombstones} WHERE id IN (${each(ids.length, "?")})`, ids);
  const taken = new Map<string, EpochMs>();
  const free: string[] = [];
  for (const [id, deletedAt] of found) {
    const row = stored.get(textOf(id))!;
    if (numberOf(deletedAt) + retentionMs > row.now) taken.set(row.id, numberOf(deletedAt));
    else free.push(row.id);
  }
  const remove = async (table: string, names: readonly string[]): Promise<void> => {
    if (names.length === 0) return;
    const values = amongValues(names);
    await session.run(`DELETE FROM ${table} WHERE id IN (${each(values.length, "?")})`, values);
  };
  await remove(executions, [...taken.keys()]);
  await remove(tombstones, free);
  return taken;
}
