import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import type { CheckedQuery } from "../../kit/checked-query.ts";
import type * as kit from "../../kit/execution-table.ts";
import type { StoredRows } from "../../kit/restored-snapshot.ts";
import { storeOver } from "../../kit/store-over.ts";
import { defaultRetentionMs } from "../../kit/tombstones.ts";
import {
  dueKeysScript,
  dueScript,
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
import { eventsFrom, parsePermit, replyList, rowsIn, said, wholeRows } from "./redis-reply.ts";
import { labelField, maxWrites, sendWrites, type WriteLimits } from "./send-writes.ts";

/** What differs between servers that run scripts. */
export interface ServerOptions {
  readonly name: string;
  readonly send: SendScript;
  /** What all keys begin with. Default `stepfold`. */
  readonly prefix?: string | undefined;
  readonly durable: boolean;
  /** After so long the server forgets a tombstone by itself. Default 30 days. */
  readonly idempotencyRetentionMs?: number | undefined;
  /** Largest head, event or child, in bytes. */
  readonly maxValueBytes: number;
  /** Largest write, in bytes of the JSON that it travels in. Default: no limit. */
  readonly maxRequestBytes?: number;
}

/** The store on a server that runs scripts. */
export function storeOnServer(options: ServerOptions): SnapshotStore {
  const { name, idempotencyRetentionMs: retentionMs = defaultRetentionMs } = options;
  return storeOver(new RedisTable(options, retentionMs), { retentionMs, errorOf: (cause) => serverError(name, cause) });
}

/** Executions on a server that runs scripts: each method is one, unless there is much to answer. */
class RedisTable implements kit.ExecutionTable {
  readonly name: string;
  readonly features: kit.ExecutionTable["features"];
  readonly grouping: kit.ExecutionTable["grouping"];
  readonly #call: CallScript;
  readonly #limits: WriteLimits;

  constructor({ name, send, prefix = "stepfold", durable, maxValueBytes, maxRequestBytes }: ServerOptions, retentionMs: number) {
    this.name = name;
    this.features = { clock: "store", durable, multiProcess: true, maxValueBytes, permits: true };
    this.grouping = { maxWrites, isOutage: (cause) => serverError(name, cause).code === "STORE_UNAVAILABLE" };
    this.#limits = { name, retentionMs: wholeMs(retentionMs), maxRequestBytes: maxRequestBytes ?? Number.POSITIVE_INFINITY };
    this.#call = scriptRunner(send, prefix);
  }

  async now(): Promise<EpochMs> {
    return (await this.read([])).now;
  }

  async read(ids: readonly string[]): ReturnType<kit.ExecutionTable["read"]> {
    const [now, ...guards] = await this.#call(readScript, ids, []);
    return { now: Number(said(now)), found: new Map(rowsIn(guards).map((guard) => [guard.id, guard])) };
  }

  async load(ids: readonly string[]): ReturnType<kit.ExecutionTable["load"]> {
    const found = new Map<string, StoredRows>();
    for (let rest = ids; rest.length > 0; ) {
      const replies = await this.#call(loadScript, rest, []);
      const loaded = await Promise.all(replies.map((reply, index) => wholeRows(this.#call, rest[index]!, replyList(reply))));
      for (const rows of loaded) if (rows) found.set(rows.workflowId, rows);
      rest = rest.slice(replies.length);
    }
    return found;
  }

  async heads(ids: readonly string[]): Promise<readonly kit.ListedRow[]> {
    return rowsIn(await this.#call(headsScript, ids, []));
  }

  write(writes: readonly kit.RowWrite[]): Promise<kit.RowAnswer[]> {
    return sendWrites(this.#call, writes, this.#limits);
  }

  async events(id: string, afterVersion: number, limit: number): Promise<readonly kit.StoredEvent[]> {
    return (await eventsFrom(this.#call, id, afterVersion + 1, limit, null)) ?? [];
  }

  async due({ keys, limit, overdueMs }: kit.DueQuery): Promise<kit.DueExecutions> {
    const args = [String(overdueMs), String(limit), ...(keys ?? [])];
    const [areKeysDue, ...guards] = await this.#call(dueScript, [], args);
    return { executions: rowsIn(guards), areKeysDue: said(areKeysDue) !== null };
  }

  async dueKeys(after: string, limit: number, overdueMs: number): Promise<kit.DueKeys> {
    const args = [String(overdueMs), String(limit), after === "" ? "-" : `(${after}`];
    const [last, ...permits] = (await this.#call(dueKeysScript, [], args)).map(said);
    return { keys: permits.map((permit) => parsePermit(permit)!), next: last ?? null };
  }

  async page(query: CheckedQuery, labels: readonly string[], after: kit.ListCursor | null, limit: number): Promise<kit.ListedRow[]> {
    const { status = [], definitionId = null, createdBefore = Number.MAX_SAFE_INTEGER, createdAfter = -1 } = query;
    if (query.status?.length === 0) return [];
    const before = [sortable(createdBefore), ...(after ? [sortable(after.createdAt) + sortable(after.seq)] : [])].sort()[0]!;
    const range = [`(${before}`, `[${sortable(Math.floor(createdAfter) + 1)}`] as const;
    return rowsIn(await this.#scan("created", range, limit, { statuses: status, definitionId, labels }));
  }

  async ended({ before, limit, ended }: kit.EndedQuery): Promise<kit.ExecutionGuard[]> {
    // the server removes tombstones by itself
    return ended ? rowsIn(await this.#scan("ended", ["-", `(${sortable(before)}`], limit, { ...ended, labels: [] })) : [];
  }

  readonly records: kit.ExecutionTable["records"] = {
    get: async (kind, keys) => {
      const texts = (await this.#call(getRecordsScript, [], [kind, ...keys])).map(said);
      const found = keys.flatMap((key, index) => {
        const [, revision, text] = /^(\S+) (.*)$/s.exec(texts[index] ?? "") ?? [];
        return revision === undefined || text === undefined ? [] : [[key, { key, revision, text }] as const];
      });
      return new Map(found);
    },
    put: async (kind, writes) => {
      const args = writes.flatMap(({ key, expected, next }) => [key, expected ?? "", next ? `${next.revision} ${next.text}` : ""]);
      return (await this.#call(putRecordsScript, [], [kind, ...args])).map((made) => said(made) !== null);
    },
  };

  async claimDue(claim: Parameters<NonNullable<kit.ExecutionTable["claimDue"]>>[0]): Promise<kit.DueClaimed> {
    const { owner, leaseMs, limit, overdueMs, fenceStep } = claim;
    const args = [owner, ...[leaseMs, limit, overdueMs, fenceStep].map(String)];
    const [now, areKeysDue, ...guards] = await this.#call(claimScript, [], args);
    return { now: Number(said(now)), executions: rowsIn(guards), areKeysDue: said(areKeysDue) !== null };
  }

  async close(): Promise<void> {}

  /** Rows of an index. Where a filter lets few through it takes several scripts, each of which looks at about 1,000. */
  async #scan(
    index: "created" | "ended",
    [from, to]: readonly [from: string, to: string],
    limit: number,
    { statuses, definitionId, labels }: NonNullable<kit.EndedQuery["ended"]> & { readonly labels: readonly string[] },
  ): Promise<readonly unknown[]> {
    const rows: unknown[] = [];
    const counted = (values: readonly string[]): string[] => [String(values.length), ...values];
    const filters = [...counted(statuses), definitionId === null ? "" : `=${definitionId}`, ...counted(labels.map(labelField))];
    for (let start: string | null = from; start !== null && rows.length < limit; ) {
      const args: string[] = [index, start, to, String(limit - rows.length), ...filters];
      const [next, found] = await this.#call(scanScript, [], args);
      rows.push(...replyList(found));
      start = said(next);
    }
    return rows;
  }
}

/** A time or number as text that is in order. */
function sortable(value: number): string {
  return String(Math.min(Math.max(Math.ceil(value), 0), Number.MAX_SAFE_INTEGER)).padStart(16, "0");
}

/** Whole milliseconds that the server can add to its clock. */
function wholeMs(durationMs: number): string {
  if (durationMs >= 0) return Math.min(Math.ceil(durationMs), 1e14).toFixed(0);
  throw new StepfoldError("OPTION_INVALID", { option: "idempotencyRetentionMs", reason: "must be a number of milliseconds, at least 0" });
}
