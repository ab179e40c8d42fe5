import type { Status } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import { refuseLong } from "../../kit/writing/byte-limit.ts";
import type { Item } from "./dynamo-client.ts";

/** The sort key of an execution's head, or of its tombstone. */
export const headKey = "head";

/** The kinds of rows of an execution: `c` for children, `e` for events, `p` for parts of long texts. */
export type RowKind = "c" | "e" | "p";

/**
 * The lists in the indexes. Three have an index of their own: `list` with all executions by time of creation, `run` with those that have events
 * of earlier runs, and `exempt` with those that need no permit from some time on. The other lists are in the index of due times: `due` has
 * executions without a permit, `keyed` those with a permit (sorted by key), `deleted` tombstones, and there is a list for each terminal
 * status.
 */
export type IndexList = "list" | "run" | "exempt" | "due" | "keyed" | "deleted" | EndedList;

/** The lists of ended executions. */
export type EndedList = Extract<Status, "completed" | "failed" | "cancelled">;

/**
 * The partition keys of a store. Each begins with a fixed part, and texts of users follow at the end, so that an id can never look like
 * another kind of row.
 */
export class DynamoKeys {
  readonly #start: string;
  readonly #shards: number;

  /** @param prefix distinguishes several stores in one table */
  constructor(prefix: string, shards: number) {
    this.#start = prefix === "" ? "" : `${prefix}.`;
    this.#shards = shards;
  }

  /** The partition of an execution: its head and its rows. */
  execution(workflowId: string): string {
    return fitting(`${this.#start}x#${workflowId}`, 2048, "The id of an execution");
  }

  workflowIdOf(partition: string): string {
    return partition.slice(this.#start.length + 2);
  }

  /** The partition of a record. */
  record(kind: string, key: string): string {
    return fitting(`${this.#start}${kind}#${key}`, 2048, "The key of a record");
  }

  /** The partition of a list to which an execution belongs. */
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
    // few executions have permit keys, and with one partition one query is enough
    return Array.from({ length: list === "keyed" || list === "exempt" ? 1 : this.#shards }, (_, shard) => `${this.#start}${list}#${shard}`);
  }
}

/** A range of sort keys; both ends are included. */
export interface SortKeys {
  readonly from: string;
  readonly to: string;
}

/** The beginning of the sort keys of one kind of rows of one incarnation. */
export function rowStart(kind: RowKind, incarnation: string): string {
  return `${kind}#${encodeURIComponent(incarnation)}#`;
}

/** The sort key of the row of the commit whose last version is `version`. */
export function rowKey(kind: RowKind, incarnation: string, version: number): string {
  // DynamoDB allows 1,024 bytes; keys of parts are longer by up to 64 bytes
  return fitting(rowStart(kind, incarnation) + sortableNumber(version), 960, "The incarnation of an execution");
}

/** The range of rows of commits whose last version is between `from` and `to`. */
export function rowRange(kind: RowKind, incarnation: string, from: number, to: number): SortKeys {
  return { from: rowKey(kind, incarnation, from), to: rowKey(kind, incarnation, to) };
}

/** Reads the last version of the commit of a row. */
export function versionOf({ sk }: Item): number {
  return Number(String(sk).split("#")[2]);
}

/** Puts a character before a text of the caller, so that it is never empty: a client may turn empty texts into null. */
export function nonEmpty(text: string): string {
  return `=${text}`;
}

/** Writes a number as text of fixed length, so that texts sort like numbers. */
export function sortableNumber(value: number): string {
  return String(Math.min(Math.max(value, 0), Number.MAX_SAFE_INTEGER)).padStart(16, "0");
}

/** An entry of the index of due times. */
export interface DueEntry {
  /** The key of the permit; null: no permit. */
  readonly key: string | null;
  readonly dueAt: EpochMs;
  /** True: the execution is due at once, whatever the clock says; `dueAt` says since when. */
  readonly isAtOnce: boolean;
  /** The sort key of the execution in the index of all executions. */
  readonly made: string;
}

/** A text that comes before every sort key of the index. */
export const firstSortKey = " ";

/** The sort key in the index of due times. It sorts by permit key, then executions due at once before those with a time, then by time. */
export function dueSortKey({ key, dueAt, isAtOnce, made }: DueEntry): string {
  return `${dueStart(key, isAtOnce)}${sortableNumber(Math.ceil(dueAt))}.${made}`;
}

/** The sort key in the lists of ended and deleted executions, and of those that need no permit from a time on. It sorts by time. */
export function timeSortKey(time: EpochMs, made: string): string {
  return dueSortKey({ key: null, dueAt: time, isAtOnce: false, made });
}

/** Reads the time in a sort key that `timeSortKey` has made. */
export function timeInSortKey(stored: string): EpochMs {
  return Number(stored.split(".")[0]);
}

/** The range of the sort keys that `timeSortKey` makes until a time and that come after `after`: one of them, or `firstSortKey`. */
export function timeKeysUntil(until: EpochMs, after: string): SortKeys {
  return { from: `${after} `, to: `${sortableNumber(Math.floor(until))}/` };
}

/** Reads a sort key of the index of due times. */
export function readSortKey(stored: string): DueEntry {
  const end = stored.indexOf(" ");
  const key = end < 0 ? null : stored.slice(0, end).replace(/%2[05]/g, decodeURIComponent);
  const parts = stored.slice(end + 1).split(".");
  const isAtOnce = parts[0] === sortableNumber(0);
  const [time, ...made] = isAtOnce ? parts.slice(1) : parts;
  return { key, dueAt: Number(time), isAtOnce, made: made.join(".") };
}

/** The range of sort keys of one permit key that are due until a time: of executions due at once, or of those with a time. */
export function sortKeysUntil(key: string | null, isAtOnce: boolean, until: EpochMs): SortKeys {
  const start = dueStart(key, isAtOnce);
  // executions with a time come after all that are due at once, because "/" is the character after "."
  return { from: isAtOnce ? start : `${start}${sortableNumber(0)}/`, to: `${start}${sortableNumber(Math.floor(until))}/` };
}

/** A text that comes after every sort key of a permit key. */
export function afterKey(key: string): string {
  return `${keyStart(key)}!`;
}

function dueStart(key: string | null, isAtOnce: boolean): string {
  return (key === null ? "" : `${keyStart(key)} `) + (isAtOnce ? `${sortableNumber(0)}.` : "");
}

/** The beginning of the sort keys of a permit key. The key ends before the first space. */
function keyStart(key: string): string {
  return fitting(key.replace(/[ %]/g, encodeURIComponent), 900, "The key of a permit");
}

function fitting(key: string, max: number, what: string): string {
  refuseLong(what, "dynamo key in bytes", max, [key]);
  return key;
}

/** The FNV-1a hash of a text. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
