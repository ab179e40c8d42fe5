import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Status } from "../../../core/snapshot/snapshot.ts";
import type { SeriesQuery } from "../../../ports/execution-counts.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import type { ExecutionGuard, RowAnswer, RowWrite, StoredEvent } from "../../kit/execution-rows.ts";
import type { DueClaimed, DueExecutions, DueKeys, DueQuery, ExecutionTable, KeyedDue } from "../../kit/execution-table.ts";
import type * as lists from "../../kit/lists/list-table.ts";
import type { StoredRows } from "../../kit/restoring/restored-snapshot.ts";
import { endedCountOf } from "../../kit/row-rules.ts";
import { type RetentionOptions, storeOver } from "../../kit/store-over.ts";
import { defaultRetentionMs } from "../../kit/tombstones.ts";
import {
  dueKeysScript,
  dueScript,
  exemptScript,
  getRecordsScript,
  headsScript,
  loadScript,
  putRecordsScript,
  readScript,
  scanScript,
} from "./read-scripts.ts";
import { type CallScript, type SendScript, scriptRunner } from "./redis-client.ts";
import { serverError } from "./redis-error.ts";
import { claimScript } from "./redis-fast.ts";
import { eventsFrom, parsePermit, replyList, rowsIn, textIn, wholeRows } from "./redis-reply.ts";
import { maxWrites, sendWrites, type WriteLimits } from "./send-writes.ts";

/** What differs between servers that run scripts: Redis and Upstash. */
export interface ServerOptions extends RetentionOptions {
  /** The name of the store, also in error messages. */
  readonly name: string;
  readonly send: SendScript;
  /** The text in braces with which all keys begin. Default `stepfold`. */
  readonly prefix?: string | undefined;
  /** `features.durable`: whether the server keeps what it has acknowledged. */
  readonly durable: boolean;
  /** Largest head, event or child, in bytes. */
  readonly maxValueBytes: number;
  /** The largest write, in bytes of the JSON request that carries it. Default: no limit. */
  readonly maxRequestBytes?: number;
}

/** Returns the store on a server that runs scripts. */
export function storeOnServer(options: ServerOptions): SnapshotStore {
  const { name, idempotencyRetentionMs = defaultRetentionMs } = options;
  return storeOver(new RedisTable(options, idempotencyRetentionMs), {
    idempotencyRetentionMs,
    errorOf: (cause) => serverError(name, cause),
  });
}

/** The executions on a server that runs scripts. Each method calls one script, or several if the request or the answer is long. */
class RedisTable implements ExecutionTable, lists.ListTable {
  readonly lists: lists.ListTable = this;
  readonly name: string;
  readonly features: ExecutionTable["features"];
  readonly grouping: ExecutionTable["grouping"];
  readonly #call: CallScript;
  readonly #limits: WriteLimits;

  constructor({ name, send, prefix = "stepfold", durable, maxValueBytes, maxRequestBytes }: ServerOptions, retentionMs: number) {
    this.name = name;
    this.features = { clock: "store", durable, multiProcess: true, maxValueBytes, permits: true };
    this.grouping = { maxWrites, isOutage: (cause) => serverError(name, cause).code === "STORE_UNAVAILABLE" };
    this.#limits = { name, retentionMs: wholeMs(retentionMs), maxRequestBytes: maxRequestBytes ?? Number.POSITIVE_INFINITY };
    this.#call = scriptRunner(send, prefix);
  }

  async read(ids: readonly string[]): ReturnType<ExecutionTable["read"]> {
    const [now, ...guards] = await this.#call(readScript, ids, []);
    return { now: Number(textIn(now)), found: new Map(rowsIn(guards).map((guard) => [guard.id, guard])) };
  }

  async load(ids: readonly string[]): ReturnType<ExecutionTable["load"]> {
    const found = new Map<string, StoredRows>();
    for (let rest = ids; rest.length > 0; ) {
      const replies = await this.#call(loadScript, rest, []);
      const loaded = await Promise.all(replies.map((reply, index) => wholeRows(this.#call, rest[index]!, replyList(reply))));
      for (const rows of loaded) if (rows) found.set(rows.workflowId, rows);
      rest = rest.slice(replies.length);
    }
    return found;
  }

  async heads(ids: readonly string[]): Promise<readonly lists.ListedRow[]> {
    return rowsIn(await this.#call(headsScript, ids, []));
  }

  write(writes: readonly RowWrite[]): Promise<RowAnswer[]> {
    return sendWrites(this.#call, writes, this.#limits);
  }

  async events(id: string, afterVersion: number, limit: number): Promise<readonly StoredEvent[]> {
    return (await eventsFrom(this.#call, id, afterVersion + 1, limit, null)) ?? [];
  }

  async due({ keys, limit, overdueMs }: DueQuery): Promise<DueExecutions> {
    const args = [String(overdueMs), String(limit), ...(keys ?? [])];
    const [keyedDue, ...guards] = await this.#call(dueScript, [], args);
    return { executions: rowsIn(guards), keyedDue: textIn(keyedDue) as KeyedDue };
  }

  async dueKeys(after: string, limit: number, overdueMs: number): Promise<DueKeys> {
    const args = [String(overdueMs), String(limit), after === "" ? "-" : `(${after}`];
    const [last, ...permits] = (await this.#call(dueKeysScript, [], args)).map(textIn);
    return { keys: permits.map((permit) => parsePermit(permit)!), next: last ?? null };
  }

  async exempt(limit: number, overdueMs: number): Promise<readonly ExecutionGuard[]> {
    // others may change the index between two scripts, so that the second one finds an execution again
    const found = new Map<string, ExecutionGuard>();
    for (let next: string | null = "0"; next !== null && found.size < limit; ) {
      const args: string[] = [String(overdueMs), String(limit - found.size), next];
      const [skipped, ...guards] = await this.#call(exemptScript, [], args);
      for (const row of rowsIn(guards)) found.set(row.id, row);
      next = textIn(skipped);
    }
    return [...found.values()];
  }

  async page(query: lists.PageQuery): Promise<lists.ListedPart> {
    const { rows, next, looked } = await this.#scan("created", rangeOf(query), { ...query, isList: true });
    const [, createdAt, seq] = /^\((\d{16})(\d{16})/.exec(next ?? "") ?? [];
    return { rows, looked, next: next === null ? null : { createdAt: Number(createdAt), seq: Number(seq) } };
  }

  async count(query: lists.PageQuery): Promise<lists.CountedRows> {
    const { rows, next, looked } = await this.#scanAll("created", rangeOf(query), { ...query, limit: maxLooked, maxLooked });
    const counts = new Map<Status, number>();
    for (const { status } of rows) counts.set(status, Math.min(query.limit, (counts.get(status) ?? 0) + 1));
    return { counts, looked, complete: next === null };
  }

  async ended({ before, limit, ended }: lists.EndedQuery): Promise<readonly ExecutionGuard[]> {
    // the server removes tombstones by itself
    if (!ended) return [];
    const { statuses: status, definitionId } = ended;
    const filters = { status, limit, ...(definitionId !== null && { definitionId }) };
    return (await this.#scanAll("ended", [oldestFirst, "-", `(${sortable(before)}`], filters)).rows;
  }

  async earlierRuns({ before, limit, definitionId, id }: lists.EarlierRunsQuery): Promise<readonly lists.LaterRun[]> {
    const filters = { limit, ...(definitionId !== null && { definitionId }), ...(id !== null && { idPrefix: id, limit: maxLooked }) };
    const { rows } = await this.#scanAll("runs", [oldestFirst, "-", `(${sortable(before)}`], filters);
    return id === null ? rows : rows.filter((row) => row.id === id);
  }

  async endedCounts({ from, to, definitionId, ...query }: SeriesQuery): Promise<lists.EndedCounts> {
    const range = [oldestFirst, `[${sortable(from)}`, `(${sortable(to)}`] as const;
    const filters = { limit: maxLooked, maxLooked, ...(definitionId !== undefined && { definitionId }) };
    const { rows, next, looked } = await this.#scanAll("ended", range, filters);
    return { counts: rows.map((row) => endedCountOf(row, { from, to, ...query })), complete: next === null, looked };
  }

  readonly records: ExecutionTable["records"] = {
    get: async (kind, keys) => {
      const texts = (await this.#call(getRecordsScript, [], [kind, ...keys])).map(textIn);
      const found = keys.flatMap((key, index) => {
        const [, revision, text] = /^(\S+) (.*)$/s.exec(texts[index] ?? "") ?? [];
        return revision === undefined || text === undefined ? [] : [[key, { key, revision, text }] as const];
      });
      return new Map(found);
    },
    put: async (kind, writes) => {
      const args = writes.flatMap(({ key, expected, next }) => [key, expected ?? "", next ? `${next.revision} ${next.text}` : ""]);
      return (await this.#call(putRecordsScript, [], [kind, ...args])).map((made) => textIn(made) !== null);
    },
  };

  async claimDue(claim: Parameters<NonNullable<ExecutionTable["claimDue"]>>[0]): Promise<DueClaimed> {
    const { owner, leaseMs, limit, overdueMs, fenceStep } = claim;
    const args = [owner, ...[leaseMs, limit, overdueMs, fenceStep].map(String)];
    const [now, keyedDue, ...guards] = await this.#call(claimScript, [], args);
    return { now: Number(textIn(now)), executions: rowsIn(guards), keyedDue: textIn(keyedDue) as KeyedDue };
  }

  /** Scans a part of an index with one script. If few rows pass the filters, the script stops before it has found `limit` rows. */
  async #scan(index: ScannedIndex, range: ScanRange, filters: ScanFilters): Promise<Scanned> {
    const { status = [], definitionId, idPrefix = "", labels = [], limit, isList } = filters;
    const counted = (values: readonly string[]): string[] => [String(values.length), ...values];
    const named = definitionId === undefined ? "" : `=${definitionId}`;
    const what = [index, ...range, String(limit), isList ? "list" : "", ...counted(status), named, idPrefix, ...counted(labels)];
    const [next, looked, rows] = await this.#call(scanScript, [], what);
    return { rows: rowsIn(replyList(rows)), next: textIn(next), looked: Number(looked) };
  }

  /** Scans an index, with several scripts if needed, until the end or a limit of `filters`. */
  async #scanAll(index: ScannedIndex, [command, from, to]: ScanRange, filters: ScanFilters): Promise<Scanned> {
    const rows: Scanned["rows"][number][] = [];
    let [next, looked]: [string | null, number] = [from, 0];
    while (next !== null && rows.length < filters.limit && looked < (filters.maxLooked ?? looked + 1)) {
      const part: Scanned = await this.#scan(index, [command, next, to], { ...filters, limit: filters.limit - rows.length });
      rows.push(...part.rows);
      looked += part.looked;
      next = part.next;
    }
    return { rows, next, looked };
  }
}

/** The number of executions after which a count ends. The last script may look at up to about 1,000 more. */
const maxLooked = 20_000;

/** The command that reads an index from the oldest entry on. */
const oldestFirst = "ZRANGEBYLEX";

/** An index of executions by a time. */
type ScannedIndex = "created" | "ended" | "runs";

/** The command that reads an index, and where it begins and ends in the index. */
type ScanRange = readonly [command: string, from: string, to: string];

/** Selects rows of an index. */
interface ScanFilters extends Partial<Pick<lists.PageQuery, "status" | "definitionId" | "idPrefix" | "labels">> {
  readonly limit: number;
  /** The scan calls no further script after so many executions. Default: no limit. */
  readonly maxLooked?: number;
  /** True: rows come with definition, metadata and head. */
  readonly isList?: true;
}

/** The result of a scan. */
interface Scanned {
  readonly rows: readonly (lists.ListedRow & lists.LaterRun)[];
  /** Where to continue; null at the end. */
  readonly next: string | null;
  /** How many executions the scan has looked at. */
  readonly looked: number;
}

/** Returns the part of the index of all executions that a query reads. */
function rangeOf({ createdBefore = Number.MAX_SAFE_INTEGER, createdAfter = -1, after, order }: lists.PageQuery): ScanRange {
  const first = sortable(Math.floor(createdAfter) + 1);
  const cursor = after ? [sortable(after.createdAt) + sortable(after.seq)] : [];
  if (order === "newest") return ["ZREVRANGEBYLEX", `(${[sortable(createdBefore), ...cursor].sort()[0]}`, `[${first}`];
  // in an entry, the id follows the number of the execution; U+10FFFF sorts after every id, so the scan begins after the cursor
  const from = [first, ...cursor.map((entry) => `${entry}\u{10ffff}`)].sort().at(-1);
  return [oldestFirst, `[${from}`, `(${sortable(createdBefore)}`];
}

/** Returns a time or number as text of 16 digits, so that texts sort like the numbers. */
function sortable(value: number): string {
  return String(Math.min(Math.max(Math.ceil(value), 0), Number.MAX_SAFE_INTEGER)).padStart(16, "0");
}

/** Returns a duration as whole milliseconds, limited to what the server can add to its clock. */
function wholeMs(durationMs: number): string {
  if (durationMs >= 0) return Math.min(Math.ceil(durationMs), 1e14).toFixed(0);
  throw new StepfoldError("OPTION_INVALID", { option: "idempotencyRetentionMs", reason: "must be a number of milliseconds, at least 0" });
}
