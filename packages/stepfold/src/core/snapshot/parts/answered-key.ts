import type { EpochMs } from "../../values/json.ts";

/**
 * An answer, a signal, a change of metadata or a restart that its caller gave with an idempotency key. If the caller sends it again, it changes
 * nothing.
 */
export interface AnsweredKey {
  readonly command: "resume" | "signal" | "setMetadata" | "restart";
  /** The idempotency key that the caller gave. */
  readonly key: string;
  /** Version of the event that the command made. */
  readonly version: number;
  /** When it was given. Absent in what older versions have written. */
  readonly at?: EpochMs;
}

/**
 * Where the store keeps the idempotency keys that the snapshot does not hold any more: in rows of their own, by the day on which they were
 * given, so that a day can be deleted as a whole.
 */
export interface KeyRows {
  /** The days (see `dayOf`) of which there may be rows. A day stands here before its first row is written, so no row is ever forgotten. */
  readonly days: readonly number[];
  /** The keys of all events before this version are in rows. */
  readonly before: number;
  /** Versions before `before` whose answer was refused later, so that their keys may be used again. */
  readonly refused?: readonly number[];
}

/** A snapshot holds at least this number of the latest keys. From the next one on, the days of its keys are noted in `KeyRows`. */
export const heldKeys = 500;
/** If a snapshot holds more keys than this, the next command with a key moves all but the latest `heldKeys` into rows. */
export const maxHeldKeys = 1_000;
/** In a store that has no rows for keys, an execution knows this number of keys, the latest ones. */
export const maxAnsweredKeys = 2_000;

const dayMs = 24 * 60 * 60 * 1000;

/** The number of the day, in UTC, from 1970 on. */
export function dayOf(at: EpochMs): number {
  return Math.floor(at / dayMs);
}

/** What an execution knows of its idempotency keys. */
interface Keys {
  answered: AnsweredKey[];
  keyRows: KeyRows | undefined;
}

/** Adds a key. From `heldKeys` on it also notes the days of the keys, because they may be moved into rows. */
export function addKey(keys: Keys, added: AnsweredKey): void {
  keys.answered.push(added);
  if (keys.answered.length > maxAnsweredKeys) keys.answered.shift();
  if (keys.answered.length <= heldKeys) return;
  const { days, ...rest } = keys.keyRows ?? { days: [], before: 0 };
  const named = (keys.keyRows ? [added] : keys.answered).flatMap(({ at }) => (at === undefined ? [] : dayOf(at)));
  if (named.every((day) => days.includes(day))) return;
  keys.keyRows = Object.freeze({ ...rest, days: Object.freeze([...new Set([...days, ...named])].sort((a, b) => a - b)) });
}

/** Forgets the key of an answer that was refused: it may be used again. */
export function forgetKey(keys: Keys, version: number): void {
  keys.answered = keys.answered.filter((given) => given.version !== version);
  const { keyRows } = keys;
  if (!keyRows || version >= keyRows.before) return;
  keys.keyRows = Object.freeze({ ...keyRows, refused: Object.freeze([...(keyRows.refused ?? []), version].slice(-maxHeldKeys)) });
}
