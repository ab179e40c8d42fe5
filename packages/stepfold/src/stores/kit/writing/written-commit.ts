import { latestMetadata } from "../../../core/reading/latest-metadata.ts";
import { isTerminal, type SnapshotHead, type Status } from "../../../core/snapshot/snapshot.ts";
import type { ListedWait } from "../../../core/transition/draft/listed-waits.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { Commit } from "../../../ports/snapshot-store.ts";
import { labelsOf, labelText, waitLabels } from "../lists/labels.ts";
import { storedMetadata } from "../lists/metadata-column.ts";

/** A commit as rows of text: what a caller does with its values later no longer matters. */
export interface WrittenCommit {
  readonly workflowId: string;
  readonly incarnation: string;
  readonly commitId: string;
  readonly expectedVersion: number;
  /** Null for everybody but the holder of the claim. */
  readonly fence: number | null;
  readonly version: number;
  readonly status: Status;
  /** JSON; see `headText`. */
  readonly head: string;
  readonly sizeBytes: number;
  /** Nothing follows. */
  readonly ended: boolean;
  /** Null for never, as for whatever has ended. */
  readonly wakeAt: EpochMs | null;
  /** The claim ends with this commit. */
  readonly frees: boolean;
  readonly events: readonly WrittenEvent[];
  /** What lists show and find it by: always in a first commit, else null if metadata and waits stay as they are. */
  readonly listed: { readonly metadata: string; readonly labels: string } | null;
  /** JSON; null: there is none in this commit. */
  readonly checkpoint: string | null;
  /** Every key once. */
  readonly children: readonly WrittenChild[];
}

export interface WrittenEvent {
  readonly version: number;
  /** JSON. */
  readonly text: string;
}

export interface WrittenChild {
  readonly key: string;
  /** JSON; null: to be deleted. */
  readonly text: string | null;
  /** It was deleted before it was put again: it comes after all others. */
  readonly last: boolean;
}

/**
 * The head without what the first event fixed, and what a store keeps beside it: a step writes only what it changes, however large input and
 * metadata are.
 */
function headText(head: SnapshotHead): string {
  // written out: a loop over names costs a step more
  return JSON.stringify({
    ...head,
    workflowId: undefined,
    incarnation: undefined,
    definition: undefined,
    metadata: undefined,
    input: undefined,
    createdAt: undefined,
    version: undefined,
    status: undefined,
  });
}

/** Writes a commit down. */
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
    wakeAt: ended ? null : commit.wakeAt,
    frees: ended || (commit.release === true && fence !== null),
    events: commit.events.map((event) => ({ version: event.version, text: JSON.stringify(event) })),
    listed: expectedVersion < 0 || commit.waits || latestMetadata(commit.events) ? listedOf(head, commit.waits) : null,
    checkpoint: commit.checkpoint === undefined ? null : JSON.stringify(commit.checkpoint),
    children: commit.children?.length ? writtenChildren(commit.children) : noChildren,
  };
}

function listedOf({ metadata: given, tenant }: SnapshotHead, waits: readonly ListedWait[] = []): NonNullable<WrittenCommit["listed"]> {
  const metadata = storedMetadata(given, tenant, waits);
  return { metadata: JSON.stringify(metadata), labels: labelText([...labelsOf(metadata), ...waitLabels(waits)]) };
}

const noChildren: readonly WrittenChild[] = [];

/** Of two with one key the later counts. */
function writtenChildren(changed: NonNullable<Commit["children"]>): WrittenChild[] {
  const written = new Map<string, WrittenChild>();
  for (const { key, head } of changed) {
    const before = written.get(key);
    const last = before !== undefined && (before.last || before.text === null);
    // the order of what is new is that of the commit
    if (last) written.delete(key);
    written.set(key, { key, text: head && JSON.stringify(head), last: last && head !== null });
  }
  return [...written.values()];
}
