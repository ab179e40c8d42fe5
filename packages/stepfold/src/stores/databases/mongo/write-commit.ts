import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { isTerminal } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs, Json } from "../../../core/values/json.ts";
import type { Claim, Commit, Lease } from "../../../ports/snapshot-store.ts";
import { bytesOf, refuseOversize } from "../../kit/value-limit.ts";
import { refusal, repeatedCreation } from "../../kit/verdict.ts";
import { type WrittenCommit, writtenCommit } from "../../kit/written-commit.ts";
import { type Collections, eventId, keyOf, literal, now, reading, returning, writing } from "./collections.ts";
import { type DueField, dueAtOf, laterDueAtOf } from "./due-time.ts";
import { flushTail } from "./flush-tail.ts";
import { metadataEntries } from "./list-executions.ts";
import type { MongoDocument } from "./mongo-client.ts";
import { isDuplicate } from "./mongo-error.ts";
import { executionIn, isEnded, type Stored, storedOf, type Tail, type Tombstone } from "./stored-execution.ts";

/** Of the head, one event or one child. */
export const maxValueBytes = 8_000_000;

/** Of all that a commit writes, and of the metadata, which the same document holds twice: a document has at most 16 MiB. */
const maxCommitBytes = 14_000_000;
const maxMetadataBytes = 1_000_000;

/** The write of a new execution: one document. */
export function create(
  collections: Collections,
  commit: Commit,
  lease: Lease | undefined,
  seq: () => Promise<number>,
  retentionMs: number,
): () => Promise<Claim | null> {
  const written = checked(commit);
  // one with a permit is never claimed with its creation
  const held = commit.head.permit ? undefined : lease;
  const document = newDocument(commit, written, held);
  return async () => insert(collections, written, { ...document, seq: await seq() }, held, retentionMs);
}

async function insert(
  collections: Collections,
  written: WrittenCommit,
  document: MongoDocument,
  lease: Lease | undefined,
  retentionMs: number,
): Promise<Claim | null> {
  const workflowId = String(written.workflowId);
  const { executions } = collections;
  // what was deleted long enough ago is nothing
  const isOver = { $lte: [{ $add: [{ $ifNull: ["$deletedAt", Number.MAX_SAFE_INTEGER] }, retentionMs] }, now] };
  const isFree = { $or: [{ $eq: [{ $ifNull: ["$key", null] }, null] }, isOver] };
  const update = [{ $replaceWith: { $cond: [isFree, document, "$$ROOT"] } }];
  const options = { ...returning, upsert: true };
  let found: MongoDocument | null;
  try {
    found = await executions.findOneAndUpdate({ _id: workflowId }, update, options);
  } catch (cause) {
    if (!isDuplicate(cause)) throw cause;
    // somebody else inserted it in the same moment: now it is there
    found = await executions.findOneAndUpdate({ _id: workflowId }, update, options);
  }
  const stored = executionIn(found);
  if (!stored) throw new StepfoldError("WORKFLOW_EXISTS", { workflowId, deletedAt: (found as unknown as Tombstone).deletedAt });
  const writer = await writerOf(collections, stored, 0);
  return repeatedCreation(written, stored, writer, lease, claimedAt(stored, lease));
}

/** The write of a commit: first what the last one left in the document, then the document. */
export function change(collections: Collections, commit: Commit): () => Promise<void> {
  const written = checked(commit);
  const field = commit.head.permit ? "turnAt" : "dueAt";
  return () => replace(collections, written, field);
}

async function replace(collections: Collections, written: WrittenCommit, field: DueField): Promise<void> {
  const { workflowId, incarnation, expectedVersion, fence } = written;
  const stored = await storedOf(collections.executions, workflowId);
  if (stored && mayFollow(written, stored)) {
    await flushTail(collections, stored);
    const guard = { _id: workflowId, incarnation, version: expectedVersion, status: { $not: isEnded } };
    const held = fence === null ? {} : { fence, owner: { $ne: null } };
    const { matchedCount } = await collections.executions.updateOne({ ...guard, ...held }, [{ $set: changes(written, field) }], writing);
    if (matchedCount === 1) return;
  }
  const current = await storedOf(collections.executions, workflowId);
  const writer = current?.incarnation === incarnation ? await writerOf(collections, current, expectedVersion + 1) : null;
  const refused = refusal(written, current, writer);
  if (refused) throw refused;
}

/** Whether a commit would be taken as things stand: nothing is copied for one that is refused. */
function mayFollow({ incarnation, expectedVersion, fence }: WrittenCommit, stored: Stored): boolean {
  const isHolder = fence === null || (stored.fence === fence && stored.owner !== null);
  return isHolder && stored.incarnation === incarnation && stored.version === expectedVersion && !isTerminal(stored.status);
}

/** Text at once: what the caller does with the values later does not matter. */
function checked(commit: Commit): WrittenCommit {
  const written = writtenCommit(commit);
  refuseOversize("mongodb", maxValueBytes, written);
  const { workflowId, head, events, children } = written;
  const refuse = (what: string, limit: string, max: number, texts: readonly (string | null)[]): void => {
    const actual = texts.reduce((sum, text) => sum + (text === null ? 0 : text.length), 0);
    // no character takes more than three bytes for each of its code units
    if (actual * 3 <= max) return;
    const bytes = texts.reduce((sum, text) => sum + (text === null ? 0 : bytesOf(text)), 0);
    if (bytes <= max) return;
    throw new StepfoldError("LIMIT_EXCEEDED", { what: `${what} of execution "${workflowId}"`, limit, max, actual: bytes });
  };
  const all = [head, ...events.map(({ text }) => text), ...children.map(({ text }) => text)];
  refuse("A commit", "mongodb commit in bytes", maxCommitBytes, all);
  if (commit.expectedVersion < 0)
    refuse("The metadata", "mongodb metadata in bytes", maxMetadataBytes, [JSON.stringify(commit.head.metadata)]);
  return written;
}

/** What a commit puts into the document, in terms of what is there. */
function changes(written: WrittenCommit, field: DueField): MongoDocument {
  const { version, status, head, wakeAt, ended, frees, fence, children } = written;
  const isFree = { $eq: ["$owner", null] };
  return {
    version,
    status,
    head: literal(head),
    tail: literal(tailOf(written)),
    wakeAt,
    updatedAt: now,
    ...(ended && { endedAt: now }),
    ...(children.length > 0 && { childrenAt: version }),
    // its holder is alive
    ...(fence !== null && { crashes: 0 }),
    ...(frees && { owner: null, leaseUntil: null }),
    [field]: frees ? dueAtOf(wakeAt) : { $cond: [isFree, laterDueAtOf(wakeAt, field), `$${field}`] },
  };
}

function newDocument(commit: Commit, written: WrittenCommit, lease: Lease | undefined): MongoDocument {
  const { workflowId, incarnation, version, status, head, ended, wakeAt, children } = written;
  const { definition, metadata, permit } = commit.head;
  const held = ended ? undefined : lease;
  const until = held ? { $add: [now, held.leaseMs] } : null;
  return {
    _id: "$_id",
    key: literal(keyOf(workflowId, incarnation)),
    incarnation: literal(incarnation),
    version,
    status,
    head: literal(head),
    tail: literal(tailOf(written)),
    childrenAt: children.length > 0 ? version : null,
    wakeAt,
    dueAt: permit ? null : (until ?? dueAtOf(wakeAt)),
    ...(permit && { permitKey: literal(permit.key), permitLimit: permit.limit, turnAt: dueAtOf(wakeAt) }),
    owner: held ? literal(held.owner) : null,
    fence: held ? 1 : 0,
    crashes: 0,
    leaseUntil: until,
    definitionId: literal(definition.id),
    definition: literal(JSON.stringify(definition)),
    metadata: literal(JSON.stringify(metadata)),
    meta: literal(metadataEntries(metadata as Readonly<Record<string, Json>>)),
    createdAt: now,
    updatedAt: now,
    endedAt: ended ? now : null,
  };
}

function tailOf({ commitId, events, children }: WrittenCommit): Tail {
  return { commitId, events, children };
}

/** The commit that wrote a version. */
async function writerOf({ events }: Pick<Collections, "events">, { key, tail }: Stored, version: number): Promise<string | null> {
  if (tail.events.some((event) => event.version === version)) return tail.commitId;
  const row = await events.findOne({ _id: eventId(key, version) }, { ...reading, projection: { commitId: 1 } });
  return (row?.commitId ?? null) as string | null;
}

/** When the claim that a creation came with began. */
function claimedAt({ leaseUntil }: Stored, lease: Lease | undefined): EpochMs {
  return lease && leaseUntil !== null ? leaseUntil - lease.leaseMs : 0;
}
