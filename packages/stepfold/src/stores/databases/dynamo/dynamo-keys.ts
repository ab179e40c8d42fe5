import type { Status } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import { refuseLong } from "../../kit/writing/byte-limit.ts";
import type { Item } from "./dynamo-client.ts";

/** Sort key of an execution's head, or of the tombstone in its place. */
export const headKey = "head";

/** What the rows of an execution hold: `c`hildren, `e`vents, and `p`arts of long texts. */
export type RowKind = "c" | "e" | "p";

/**
 * The lists of the two indexes. `list` has all executions by time of creation. The others are those of the index of due times:
 * what is `due` without a permit, what is due with one (`keyed`, where executions with one key stand together), what has ended,
 * what was deleted.
 */
export type IndexList = "list" | "due" | "keyed" | "deleted" | EndedList;

/** Lists of what has ended. */
export type EndedList = Extract<Status, "completed" | "failed" | "cancelled">;

/**
 * The partitions of a store. Nothing of the caller stands in front of anything of ours, so no id can look like another's row.
 */
export class DynamoKeys {
  readonly #start: string;
  readonly #shards: number;

  /** @param prefix tells stores in one table apart */
  constructor(prefix: string, shards: number) {
    this.#start = prefix === "" ? "" : `${prefix}.`;
    this.#shards = shards;
  }

  /** Partition of an execution: head and rows. */
  execution(workflowId: string): string {
    return fitting(`${this.#start}x#${workflowId}`, 2048, "The id of an execution");
  }

  workflowIdOf(partition: string): string {
    return partition.slice(this.#start.length + 2);
  }

  /** Partition of a record. */
  record(kind: string, key: string): string {
    return fitting(`${this.#start}${kind}#${key}`, 2048, "The key of a record");
  }

  /** The partition of a list that an execution is in. */
  listPartition(list: IndexList, workflowId: string): string {
    const partitions = this.listPartitions(list);
    return partitions[hashOf(workflowId) % partitions.length]!;
  }

  /** The list that a partition belongs to. */
  listOf(partition: string): string {
    return partition.slice(this.#start.length).split("#")[0]!;
  }

  /** All partitions of a list. */
  listPartitions(list: IndexList): readonly string[] {
    // few have keys: one partition is one question
    return Array.from({ length: list === "keyed" ? 1 : this.#shards }, (_, shard) => `${this.#start}${list}#${shard}`);
  }
}

/** Sort keys from one to another, both included. */
export interface SortKeys {
  readonly from: string;
  readonly to: string;
}

/** Where the rows of one kind of one incarnation begin. */
export function rowStart(kind: RowKind, incarnation: string): string {
  return `${kind}#${encodeURIComponent(incarnation)}#`;
}

/** Sort key of the row of the commit that ends with a version. */
export function rowKey(kind: RowKind, incarnation: string, version: number): string {
  // 1,024 with the longest that stands after it
  return fitting(rowStart(kind, incarnation) + sortable(version), 960, "The incarnation of an execution");
}

/** Rows of commits that end with one of these versions. */
export function rowRange(kind: RowKind, incarnation: string, from: number, to: number): SortKeys {
  return { from: rowKey(kind, incarnation, from), to: rowKey(kind, incarnation, to) };
}

/** The version with which the commit of a row ends. */
export function versionOf({ sk }: Item): number {
  return Number(String(sk).split("#")[2]);
}

/** Keeps a text of the caller from being empty: a client may be set to turn empty texts into null. */
export function nonEmpty(text: string): string {
  return `=${text}`;
}

/** Numbers as text that sorts as they do. */
export function sortable(value: number): string {
  return String(Math.min(Math.max(value, 0), Number.MAX_SAFE_INTEGER)).padStart(16, "0");
}

/** An entry of the index of due times. */
export interface DueEntry {
  /** Of its permit; null: it has none. */
  readonly key: string | null;
  readonly dueAt: EpochMs;
  /** It is due at once: since `dueAt`, and whatever a clock says. */
  readonly isAtOnce: boolean;
  /** Its sort key among all executions. */
  readonly made: string;
}

/** Before every sort key of the index. */
export const firstSortKey = " ";

/** Sort key in the index of due times: by key, and of one key what is due at once before all that has a time, each by its time. */
export function dueSortKey({ key, dueAt, isAtOnce, made }: DueEntry): string {
  return `${dueStart(key, isAtOnce)}${sortable(Math.ceil(dueAt))}.${made}`;
}

/** Sort key in the lists of what has ended or was deleted: by time. */
export function timeSortKey(time: EpochMs, made: string): string {
  return dueSortKey({ key: null, dueAt: time, isAtOnce: false, made });
}

/** What a sort key says. */
export function readSortKey(stored: string): DueEntry {
  const end = stored.indexOf(" ");
  const key = end < 0 ? null : stored.slice(0, end).replace(/%2[05]/g, decodeURIComponent);
  const parts = stored.slice(end + 1).split(".");
  const isAtOnce = parts[0] === sortable(0);
  const [time, ...made] = isAtOnce ? parts.slice(1) : parts;
  return { key, dueAt: Number(time), isAtOnce, made: made.join(".") };
}

/** Sort keys of a key that are due until a time: of what is due at once, or of what has a time. */
export function sortKeysUntil(key: string | null, isAtOnce: boolean, until: EpochMs): SortKeys {
  const start = dueStart(key, isAtOnce);
  // what has a time begins after all that is due at once: / comes after . in the order of bytes
  return { from: isAtOnce ? start : `${start}${sortable(0)}/`, to: `${start}${sortable(Math.floor(until))}/` };
}

/** After every sort key of a key. */
export function afterKey(key: string): string {
  return `${keyStart(key)}!`;
}

function dueStart(key: string | null, isAtOnce: boolean): string {
  return (key === null ? "" : `${keyStart(key)} `) + (isAtOnce ? `${sortable(0)}.` : "");
}

/** Where the sort keys of a key begin: all before the first space is the key. */
function keyStart(key: string): string {
  return fitting(key.replace(/[ %]/g, encodeURIComponent), 900, "The key of a permit");
}

function fitting(key: string, max: number, what: string): string {
  refuseLong(what, "dynamo key in bytes", max, [key]);
  return key;
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
