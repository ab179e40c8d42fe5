import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Status } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import { bytesOf } from "../../kit/value-limit.ts";
import type { Key } from "./dynamo-client.ts";

/** Sort key of an execution's head, or of the tombstone in its place. */
export const headKey = "head";

/** Sort key of the row of a permit's key. */
export const permitRowKey = "permit";

/** Sort key of the item that says that there are executions with permits. */
export const linesKey = "lines";

/** What the rows of an execution hold: `c`hildren, `e`vents, and `p`arts of long texts. */
export type RowKind = "c" | "e" | "p";

/**
 * Which of the agenda's lists an item is in. What is `due` takes turns with nobody; in `turns` those that share a key stand
 * together.
 */
export type Lane = "due" | "turns" | "permits" | "deleted" | "sweep" | Extract<Status, "completed" | "failed" | "cancelled">;

/** Before every turn. */
export const noTurn = " ";

/** Numbers as text that sorts as they do. */
export function sortable(value: number): string {
  return String(Math.min(Math.max(value, 0), Number.MAX_SAFE_INTEGER)).padStart(16, "0");
}

/**
 * How the keys of a store begin and end. Nothing of the caller stands in front of anything of ours, so no id can look
 * like another's row.
 */
export interface Keys {
  readonly shards: number;
  /** Partition of an execution: head and rows. */
  execution(workflowId: string): string;
  workflowIdOf(partition: string): string;
  definition(hash: string): string;
  /** Partition of the row of those who have the places of a key that executions share. */
  permit(key: string): string;
  permitOf(partition: string): string;
  /** Partition of the item that says that there are such keys. */
  readonly lines: string;
  /** Partition of the list of all executions. */
  shelf(shard: number): string;
  /** Partition of one list of the agenda. */
  lane(lane: Lane, shard: number): string;
  shardOf(workflowId: string): number;
}

/** @param prefix tells stores in one table apart */
export function keysOf(prefix: string, shards: number): Keys {
  const start = prefix === "" ? "" : `${prefix}.`;
  return {
    shards,
    execution: (workflowId) => fitting(`${start}x#${workflowId}`, 2048, "The id of an execution"),
    workflowIdOf: (partition) => partition.slice(start.length + 2),
    definition: (hash) => fitting(`${start}d#${hash}`, 2048, "The hash of a definition"),
    permit: (key) => fitting(`${start}l#${key}`, 2048, "The key of a permit"),
    permitOf: (partition) => partition.slice(start.length + 2),
    lines: `${start}lines`,
    shelf: (shard) => `${start}list#${shard}`,
    lane: (lane, shard) => `${start}${lane}#${shard}`,
    shardOf: (workflowId) => hashOf(workflowId) % shards,
  };
}

/** Where the rows of one kind of one incarnation begin. */
export function rowStart(kind: RowKind, incarnation: string): string {
  return `${kind}#${encodeURIComponent(incarnation)}#`;
}

/** The row of the commit that ends with a version. */
export function rowKey(pk: string, kind: RowKind, incarnation: string, version: number): Key {
  // 1,024 with the longest that stands after it
  return { pk, sk: fitting(rowStart(kind, incarnation) + sortable(version), 960, "The incarnation of an execution") };
}

/** Keeps a text of the caller from being empty: a client may be set to turn empty texts into null. */
export function storedText(text: string): string {
  return `=${text}`;
}

/** Place in the agenda: by time, and of the same time the oldest first. */
export function turnAt(time: EpochMs, made = ""): string {
  return `${sortable(Math.ceil(time))}.${made}`;
}

/** Place in the agenda of what nobody holds: what is due at once stands before all times, in the order in which it became so. */
export function turnToWake(wakeAt: EpochMs, now: EpochMs, made: string): string {
  return wakeAt > 0 ? turnAt(wakeAt, made) : turnAt(0, `${sortable(Math.ceil(now))}.${made}`);
}

/** A turn among those that share a key; null for one that takes turns with nobody. */
export function turnIn(line: string | null, turn: string): string {
  return line === null ? turn : `${lineStart(line)} ${turn}`;
}

/** Where the turns of a key begin: all before the first space is the key. */
function lineStart(line: string): string {
  return fitting(line.replace(/[ %]/g, encodeURIComponent), 900, "The key of a permit");
}

/** Above every turn of a key. */
export function afterLine(line: string): string {
  return `${lineStart(line)}!`;
}

/** What a turn says: the key, if there is one, and the place in time. */
export function readTurn(stored: string): { readonly line: string | null; readonly turn: string } {
  const end = stored.indexOf(" ");
  if (end < 0) return { line: null, turn: stored };
  return { line: stored.slice(0, end).replace(/%2[05]/g, decodeURIComponent), turn: stored.slice(end + 1) };
}

/** Above every turn up to a time. */
export function turnsUntil(time: EpochMs): string {
  return `${sortable(Math.floor(time))}/`;
}

/** Turns of what became due at once after a time: from, to. */
export function turnsAtOnceAfter(time: EpochMs): readonly [from: string, to: string] {
  return [`${sortable(0)}.${sortable(Math.floor(time))}/`, `${sortable(0)}/`];
}

/** Whether a place in time has come, and that for at least so long. */
export function isDueAt(turn: string, latest: EpochMs, overdueMs: number): boolean {
  const [from, to] = turnsAtOnceAfter(latest);
  return turn < turnsUntil(latest) && !(overdueMs > 0 && from <= turn && turn <= to);
}

function fitting(key: string, max: number, what: string): string {
  // no character takes more than three bytes for each of its code units
  if (key.length * 3 <= max) return key;
  const actual = bytesOf(key);
  if (actual <= max) return key;
  throw new StepfoldError("LIMIT_EXCEEDED", { what, limit: "dynamo key in bytes", max, actual });
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
