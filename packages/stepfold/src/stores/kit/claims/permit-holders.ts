import type { EpochMs } from "../../../core/values/json.ts";
import type { ExecutionGuard, RowWrite } from "../execution-rows.ts";
import type { RecordWrite, StoredRecord } from "../record-table.ts";
import { crashesAfter } from "./guard.ts";
import { waitsForRate } from "./rate-key.ts";

/** An execution that has a permit: an entry in the record of its permit key. */
export interface PermitHolder {
  readonly id: string;
  readonly incarnation: string;
  /** The fence of its claim. The claim is made after this entry is written. */
  readonly fence: number;
  /** The time by which the claim must be made. After it, the process that wrote this entry counts as gone. */
  readonly until: EpochMs;
}

/** The write of a record with these holders. It fails if the record was written since it was read. */
export function writeOf(key: string, record: StoredRecord | null, holders: readonly PermitHolder[]): RecordWrite {
  return { key, expected: record?.revision ?? null, next: { revision: crypto.randomUUID(), text: JSON.stringify(holders) } };
}

/** The deletion of a record. It fails if the record was written since it was read. */
export function deletionOf({ key, revision }: StoredRecord): RecordWrite {
  return { key, expected: revision, next: null };
}

export function holdersIn({ text }: StoredRecord): readonly PermitHolder[] {
  return JSON.parse(text) as PermitHolder[];
}

/**
 * Returns the state of a holder. A holder that is `gone` never comes back, because its fence is not used again. A holder that is `lost`
 * might still renew its claim, or make it.
 */
export function holderStatus(
  { incarnation, fence, until }: PermitHolder,
  guard: ExecutionGuard | null,
  now: EpochMs,
): "held" | "lost" | "gone" {
  if (guard?.incarnation !== incarnation || guard.fence > fence) return "gone";
  if (guard.fence < fence) return until <= now ? "lost" : "held";
  if (guard.owner === null || waitsForRate(guard)) return "gone";
  return guard.dueAt === null || guard.dueAt > now ? "held" : "lost";
}

/** The write that ends the claim of a lost holder, or prevents it from being made. */
export function expiryOf({ id, incarnation, fence }: PermitHolder, guard: ExecutionGuard): RowWrite {
  const held = guard.owner !== null;
  return {
    kind: "update",
    id,
    skipLocked: true,
    when: { incarnation, fence: guard.fence, held, ...(held && !waitsForRate(guard) && { due: true }) },
    set: { owner: waitsForRate(guard) ? guard.owner : null, fence, crashes: crashesAfter(guard) },
  };
}
