import { latestMetadata } from "../../../core/snapshot/restore.ts";
import { isTerminal, type SnapshotHead, type Status } from "../../../core/snapshot/snapshot.ts";
import type { ListedWait } from "../../../core/transition/draft/listed-waits.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { Permit } from "../../../core/values/shared-keys.ts";
import { exemptAtOf } from "../../../ports/exempt-at.ts";
import type { Commit } from "../../../ports/snapshot-store.ts";
import { firstPermitOf } from "../claims/first-permit.ts";
import { labelsOf, labelText, waitLabels } from "../lists/labels.ts";
import { storedMetadata } from "../lists/metadata-column.ts";

/** A commit with its values as JSON text, so that later changes of these values by the caller do not matter. */
export interface WrittenCommit {
  readonly workflowId: string;
  readonly incarnation: string;
  readonly commitId: string;
  readonly expectedVersion: number;
  /** The fence of the claim; null: the commit does not come from a holder. */
  readonly fence: number | null;
  readonly version: number;
  readonly status: Status;
  /** JSON; see `headText`. */
  readonly head: string;
  readonly sizeBytes: number;
  /** True: the execution ends with this commit. */
  readonly ended: boolean;
  /** True: the commit opens an execution again that has ended. */
  readonly reopens: boolean;
  /** True: the commit opens an execution again that has not begun, so that its start still has to count for a rate. */
  readonly waitsForRate: boolean;
  /** The run that the commit begins, if events of earlier runs are in the history besides the first one; else null. */
  readonly run: { readonly since: number; readonly at: EpochMs } | null;
  /** The last version that is missing before the events of this commit (`Commit.afterTrim`); 0: none is. */
  readonly trimmed: number;
  /** Null: never; always null if the execution ends. */
  readonly wakeAt: EpochMs | null;
  /** See `ExecutionGuard.exemptAt`; absent: the execution has no concurrency key. */
  readonly exemptAt?: EpochMs | null;
  /**
   * The partition in which the execution is due from now on: set if it begins a run or is opened again, because it may follow another definition
   * than the one for which it was moved (see `claims/leave-lacking.ts`). Null: it stays where it is.
   */
  readonly moved: { readonly permit: Permit | null } | null;
  /** True: the claim ends with this commit, by a release or the end of the execution. */
  readonly releasesClaim: boolean;
  readonly events: readonly WrittenEvent[];
  /** The columns that lists show and search. Always set in the first commit; else null if the commit sets neither metadata nor waits. */
  readonly listed: { readonly metadata: string; readonly labels: string } | null;
  /** JSON; null: this commit has no checkpoint. */
  readonly checkpoint: string | null;
  /** The changed children, each key once. */
  readonly children: readonly WrittenChild[];
}

export interface WrittenEvent {
  readonly version: number;
  /** JSON. */
  readonly text: string;
}

export interface WrittenChild {
  readonly key: string;
  /** JSON; null: the child is deleted. */
  readonly text: string | null;
  /** True: this commit deletes the child and puts it again, so it moves behind all others. */
  readonly moved: boolean;
}

/**
 * Writes a head without the fields that are in the first event or in columns of their own, so that a step does not write input and metadata
 * again, however large they are.
 */
function headText(head: SnapshotHead): string {
  // the fields are listed one by one because a loop over their names makes a step slower
  return JSON.stringify({
    ...head,
    workflowId: undefined,
    incarnation: undefined,
    // the column has the definition of the start; a later run, or a restart, may follow another one
    definition: head.run || head.restarts ? head.definition : undefined,
    metadata: undefined,
    input: undefined,
    createdAt: undefined,
    version: undefined,
    status: undefined,
  });
}

/** Turns a commit into text. */
export function writtenCommit(commit: Commit): WrittenCommit {
  const { workflowId, incarnation, commitId, expectedVersion, fence = null, head } = commit;
  const ended = isTerminal(head.status);
  return {
    workflowId,
    incarnation,
    commitId,
    expectedVersion,
    fence,
    version: head.version,
    status: head.status,
    head: headText(head),
    sizeBytes: head.sizeBytes,
    ended,
    reopens: commit.reopens === true,
    waitsForRate: commit.reopens === true && head.rate !== undefined && head.lastStartedAt === undefined && commit.wakeAt !== null,
    run: begunRun(commit),
    trimmed: commit.afterTrim ? commit.events[0]!.version - 1 : 0,
    wakeAt: ended ? null : commit.wakeAt,
    ...(head.permit && { exemptAt: exemptAtOf(head) }),
    moved:
      commit.reopens || (head.run && head.run.since > expectedVersion && expectedVersion >= 0) ? { permit: firstPermitOf(head) } : null,
    releasesClaim: ended || (commit.release === true && fence !== null),
    events: commit.events.map((event) => ({ version: event.version, text: JSON.stringify(event) })),
    listed: expectedVersion < 0 || commit.waits || latestMetadata(commit.events) ? listedOf(head, commit.waits) : null,
    checkpoint: commit.checkpoint === undefined ? null : JSON.stringify(commit.checkpoint),
    children: commit.children?.length ? writtenChildren(commit.children) : noChildren,
  };
}

function begunRun({ head: { run, version }, events, expectedVersion, afterTrim }: Commit): WrittenCommit["run"] {
  // the last version before which nothing can be trimmed
  const kept = afterTrim ? events[0]!.version : Math.max(1, expectedVersion);
  return run && run.since > kept && run.since <= version ? { since: run.since, at: run.at } : null;
}

function listedOf({ metadata: given, tenant }: SnapshotHead, waits: readonly ListedWait[] = []): NonNullable<WrittenCommit["listed"]> {
  const metadata = storedMetadata(given, tenant, waits);
  return { metadata: JSON.stringify(metadata), labels: labelText([...labelsOf(metadata), ...waitLabels(waits)]) };
}

const noChildren: readonly WrittenChild[] = [];

/** Writes changed children. If two have the same key, the later one counts. */
function writtenChildren(changed: NonNullable<Commit["children"]>): WrittenChild[] {
  const written = new Map<string, WrittenChild>();
  for (const { key, head } of changed) {
    const before = written.get(key);
    const moved = before !== undefined && (before.moved || before.text === null);
    // `delete` moves the key to the end of the map: new children are in the order of the commit
    if (moved) written.delete(key);
    written.set(key, { key, text: head && JSON.stringify(head), moved: moved && head !== null });
  }
  return [...written.values()];
}
