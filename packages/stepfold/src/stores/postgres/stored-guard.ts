import type { Status } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Guard } from "../kit/verdict.ts";
import type { Connection } from "./connection.ts";
import { idOf, plainText } from "./plain-text.ts";

/** What is stored under an id, for whoever was refused. */
export interface StoredGuard {
  /** The clock of the database. */
  readonly now: EpochMs;
  /** When the lease ends, if it is held. */
  readonly leaseUntil: EpochMs | null;
  /** Null if nothing is there, or only a tombstone. */
  readonly guard: Guard | null;
  /** When it was deleted, if all that is there is a tombstone. */
  readonly deletedAt: EpochMs | null;
  /** Id of the commit that wrote the version that was asked for. */
  readonly writer: string | null;
}

/** Reads it. */
export async function readGuard({ ask, sql }: Connection, workflowId: string, writtenVersion: number): Promise<StoredGuard> {
  const [row] = await ask(sql.guard, [plainText(workflowId), String(writtenVersion)]);
  const { now, incarnation, version, status, owner, fence, lease_until: leaseUntil, deleted_at: deletedAt, writer } = row!;
  const guard: Guard | null =
    incarnation === null || deletedAt !== null
      ? null
      : {
          incarnation: idOf(incarnation!),
          version: Number(version),
          status: status as Status,
          owner: owner === null ? null : idOf(owner!),
          fence: Number(fence),
        };
  return {
    now: Number(now),
    leaseUntil: leaseUntil === null ? null : Number(leaseUntil),
    guard,
    deletedAt: deletedAt === null ? null : Number(deletedAt),
    writer: writer === null ? null : idOf(writer!),
  };
}
