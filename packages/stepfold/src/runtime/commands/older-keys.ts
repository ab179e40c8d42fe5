import { type AnsweredKey, dayOf, heldKeys, maxHeldKeys } from "../../core/snapshot/parts/answered-key.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import { sha256 } from "../../core/values/hash/sha256.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { KeptKeys, KeyOwner } from "../../ports/kept-keys.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";

/** Returns the version of the event that was made under a key which the snapshot does not hold any more; null: none is known. */
export async function olderVersion(
  { keptKeys }: Pick<SnapshotStore, "keptKeys">,
  snapshot: Snapshot,
  key: Pick<AnsweredKey, "command" | "key">,
): Promise<number | null> {
  const { keyRows } = snapshot;
  if (!keptKeys || !keyRows || keyRows.before === 0) return null;
  const owner = ownerOf(snapshot);
  const version = await keptKeys.find(owner, keyRows.days, nameOf(owner, key));
  return version === null || version >= keyRows.before || keyRows.refused?.includes(version) ? null : version;
}

/**
 * Moves the older keys of a snapshot into rows of the store if it holds too many, and deletes the rows of days that are over. The rows are
 * written first, then the commit of the caller writes the head that no longer holds them: at every moment a key is in one of both. If the
 * process dies between them, the next command moves the same keys again.
 *
 * @param keptMs how long keys are kept
 * @returns the snapshot without the keys that were moved
 */
export async function movedKeys(
  { keptKeys }: Pick<SnapshotStore, "keptKeys">,
  snapshot: Snapshot,
  { now, keptMs }: { readonly now: EpochMs; readonly keptMs: number },
): Promise<Snapshot> {
  const { answered = [], keyRows } = snapshot;
  if (!keptKeys || !keyRows) return snapshot;
  const oldest = dayOf(now - keptMs);
  const over = keyRows.days.filter((day) => day < oldest);
  const before = answered.length > maxHeldKeys ? answered.at(-heldKeys)!.version : keyRows.before;
  const moved = answered.filter(({ version }) => version < before);
  if (over.length === 0 && moved.length === 0) return snapshot;
  const days = keyRows.days.filter((day) => day >= oldest);
  const owner = ownerOf(snapshot);
  await putByDay(keptKeys, owner, days, moved);
  if (over.length > 0) await keptKeys.drop(owner, over);
  return Object.freeze({
    ...snapshot,
    answered: answered.filter(({ version }) => version >= before),
    keyRows: Object.freeze({ ...keyRows, days: Object.freeze(days), before }),
  });
}

/** Writes keys into the rows of their days. Those of days that are over are left out. */
async function putByDay(keptKeys: KeptKeys, owner: KeyOwner, days: readonly number[], moved: readonly AnsweredKey[]): Promise<void> {
  for (const day of days) {
    // an older version of Stepfold has not noted when a key was given
    const ofDay = moved.filter(({ at }) => (at === undefined ? day === days.at(-1) : dayOf(at) === day));
    if (ofDay.length === 0) continue;
    await keptKeys.put(
      owner,
      day,
      ofDay.map((key) => ({ name: nameOf(owner, key), version: key.version })),
    );
  }
}

function ownerOf({ workflowId, incarnation = "" }: Snapshot): KeyOwner {
  return { workflowId, incarnation };
}

/** The name of a key in rows. The incarnation is random, so the same key has another name in each execution. */
function nameOf({ incarnation }: KeyOwner, { command, key }: Pick<AnsweredKey, "command" | "key">): string {
  return sha256(JSON.stringify([incarnation, command, key])).slice(0, 32);
}
