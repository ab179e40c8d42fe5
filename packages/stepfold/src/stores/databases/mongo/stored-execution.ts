import type { Status } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { Guard } from "../../kit/verdict.ts";
import type { WrittenChild, WrittenEvent } from "../../kit/written-commit.ts";
import { reading } from "./collections.ts";
import type { MongoCollection, MongoDocument } from "./mongo-client.ts";

/**
 * The document of an execution. It carries what its last commit wrote, its tail: a single document is all that MongoDB
 * writes atomically. The next commit first copies the tail to where it stays, then puts its own in its place.
 */
export interface Stored extends Guard {
  readonly _id: string;
  /** The beginning of the ids of its events and children. */
  readonly key: string;
  readonly head: string;
  readonly tail: Tail;
  /** Version of the last commit that changed children; null: there never were any. */
  readonly childrenAt: number | null;
  readonly leaseUntil: EpochMs | null;
  /** Claims in a row that ran out without a commit of their holder. Older versions did not count them. */
  readonly crashes?: number;
}

/** What one commit wrote. */
export interface Tail {
  readonly commitId: string;
  readonly events: readonly WrittenEvent[];
  readonly children: readonly WrittenChild[];
}

/** What stays of a deleted execution. */
export interface Tombstone {
  readonly deletedAt: EpochMs;
}

/** The execution of an id; null also if it was deleted. An id that is no text, from a program without types, would be an operator. */
export async function storedOf(executions: MongoCollection, workflowId: string): Promise<Stored | null> {
  return executionIn(await executions.findOne({ _id: String(workflowId) }, reading));
}

/** The execution in a document; null for a tombstone. */
export function executionIn(document: MongoDocument | null): Stored | null {
  return document && document.deletedAt === undefined ? (document as unknown as Stored) : null;
}

/** True for a status after which nothing is written; as a filter. */
export const isEnded: MongoDocument = { $in: ["completed", "failed", "cancelled"] satisfies Status[] };
