import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Status } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import { bytesOf } from "../../kit/writing/value-limit.ts";
import type { Key } from "./dynamo-client.ts";

/** Sort key of an execution's head, or of the tombstone in its place. */
export const headKey = "head";

/** What the rows of an execution hold: `c`hildren, `e`vents, and `p`arts of long texts. */
export type RowKind = "c" | "e" | "p";

/**
 * Which list of the index of due times an item is in: what is `due` without a permit, what is due with one (`keyed`, where
 * executions with one key stand together), what has ended, what was deleted.
 */
type DueList = "due" | "keyed" | "deleted" | EndedList;

/** Lists of what has ended. */
export type EndedList = Extract<Status, "completed" | "failed" | "cancelled">;

/**
 * How the keys of a store begin and end. Nothing of the caller stands in front of anything of ours, so no id can look
 * like another's row.
 */
export interface DynamoKeys {
  /** Partition of an execution: head and rows. */
  execution(workflowId: string): string;
  workflowIdOf(partition: string): string;
  /** Partition of a record. */
  record(kind: string, key: string): string;
  /** Partition of the list of all executions for an execution; all of them. */
  listPartition(workflowId: string): string;
  readonly listPartitions: readonly string[];
  /** Partition of a list of the index of due times for an execution; all of them. */
  dueList(dueList: DueList, workflowId: string): string;
  dueLists(dueList: DueList): readonly string[];
}

/** @param prefix tells stores in one table apart */
export function dynamoKeys(prefix: string, shards: number): DynamoKeys {
  const start = prefix === "" ? "" : `${prefix}.`;
  const shardOf = (workflowId: string): number => hashOf(workflowId) % shards;
  const all = Array.from({ length: shards }, (_, shard) => shard);
  // few have keys: one partition is one question
  const dueListOf = (dueList: DueList, shard: number): string => `${start}${dueList}#${dueList === "keyed" ? 0 : shard}`;
  return {
    execution: (workflowId) => fitting(`${start}x#${workflowId}`, 2048, "The id of an execution"),
    workflowIdOf: (partition) => partition.slice(start.length + 2),
    record: (kind, key) => fitting(`${start}${kind}#${key}`, 2048, "The key of a record"),
    listPartition: (workflowId) => `${start}list#${shardOf(workflowId)}`,
    listPartitions: all.map((shard) => `${start}list#${shard}`),
    dueList: (dueList, workflowId) => dueListOf(dueList, shardOf(workflowId)),
    dueLists: (dueList) => [...new Set(all.map((shard) => dueListOf(dueList, shard)))],
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
export function nonEmpty(text: string): string {
  return `=${text}`;
}

/** Numbers as text that sorts as they do. */
export function sortable(value: number): string {
  return String(Math.min(Math.max(value, 0), Number.MAX_SAFE_INTEGER)).padStart(16, "0");
}

/** A due time as an item has it. What is due at once is so since then, and whatever a clock says. */
export interface DueTime {
  readonly dueAt: EpochMs;
  readonly isAtOnce: boolean;
}

/** Before every sort key of the index. */
export const firstSortKey = " ";

/** Sort key in the index of due times: what is due at once stands before all times, in the order in which it became so. */
export function timeSortKey({ dueAt, isAtOnce }: DueTime, made: string): string {
  const time = `${sortable(Math.ceil(dueAt))}.${made}`;
  return isAtOnce ? `${sortable(0)}.${time}` : time;
}

/** The same among those with one key of a permit; null for one without a permit. */
export function keyedSortKey(key: string | null, dueSort: string): string {
  return key === null ? dueSort : `${keyStart(key)} ${dueSort}`;
}

/** After every sort key of a key. */
export function afterKey(key: string): string {
  return `${keyStart(key)}!`;
}

/** What a sort key says. */
export function readSortKey(stored: string): DueTime & { readonly key: string | null; readonly made: string } {
  const end = stored.indexOf(" ");
  const key = end < 0 ? null : stored.slice(0, end).replace(/%2[05]/g, decodeURIComponent);
  const parts = stored.slice(end + 1).split(".");
  const isAtOnce = parts[0] === sortable(0);
  const [time, ...made] = isAtOnce ? parts.slice(1) : parts;
  return { key, dueAt: Number(time), isAtOnce, made: made.join(".") };
}

/** Sort keys of what is due until a time: from, to. What is due at once is so whatever the time is, if `until` is null. */
export function sortKeysAtOnce(key: string | null, until: EpochMs | null): { readonly from: string; readonly to: string } {
  const end = until === null ? "/" : `.${sortable(Math.floor(until))}/`;
  return { from: keyedSortKey(key, sortable(0)), to: keyedSortKey(key, sortable(0) + end) };
}

/** The same of what has a time. */
export function sortKeysUntil(key: string | null, until: EpochMs): { readonly from: string; readonly to: string } {
  return { from: keyedSortKey(key, `${sortable(0)}/`), to: keyedSortKey(key, `${sortable(Math.floor(until))}/`) };
}

/** Where the sort keys of a key begin: all before the first space is the key. */
function keyStart(key: string): string {
  return fitting(key.replace(/[ %]/g, encodeURIComponent), 900, "The key of a permit");
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
