import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Status } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { StoreFeatures } from "../../../ports/snapshot-store.ts";
import type { CheckedQuery } from "../../kit/checked-store.ts";
import type {
  DueClaimed,
  DueExecutions,
  DueKeys,
  DueQuery,
  EndedQuery,
  ExecutionGuard,
  ExecutionTable,
  RowAnswer,
  RowWrite,
  StoredEvent,
} from "../../kit/execution-table.ts";
import type { ListCursor, ListedRow } from "../../kit/list.ts";
import type { StoredRows } from "../../kit/restored-snapshot.ts";
import { bytesOf } from "../../kit/value-limit.ts";
import {
  dueKeysScript,
  dueScript,
  eventsScript,
  getRecordsScript,
  loadScript,
  putRecordsScript,
  readScript,
  scanScript,
} from "./read-scripts.ts";
import { isOutage } from "./redis-error.ts";
import { claimScript } from "./redis-fast.ts";
import { listOf, readEventRow, readGuard, readPermit, readRows, said } from "./redis-reply.ts";
import { type Keys, keysOf } from "./redis-schema.ts";
import type { RunScript, Script } from "./run-script.ts";
import { labelField, manyArgs, writeArgs } from "./write-args.ts";
import { writeScript } from "./write-script.ts";

/** Nothing else runs on the server during a script: so many writes, or about so much text, at most in one. */
const maxWrites = 50;
const maxTextLength = 1_000_000;

/** What differs between servers that run scripts. */
export interface RedisTableOptions {
  readonly name: string;
  readonly run: RunScript;
  readonly prefix: string;
  readonly durable: boolean;
  /** After so long the server forgets a tombstone by itself. */
  readonly retentionMs: number;
  /** Largest head, event or child, in bytes. */
  readonly maxValueBytes: number;
  /** Largest write, in bytes of the JSON that it travels in. Default: no limit. */
  readonly maxRequestBytes?: number;
}

/** Executions on a server that runs scripts: each method is one, unless there is much to answer. */
export class RedisTable implements ExecutionTable {
  readonly name: string;
  readonly features: StoreFeatures;
  readonly grouping: NonNullable<ExecutionTable["grouping"]>;
  readonly #keys: Keys;
  readonly #runScript: RunScript;
  readonly #retentionMs: string;
  readonly #maxRequestBytes: number;

  constructor({ name, run, prefix, durable, retentionMs, maxValueBytes, maxRequestBytes = Number.POSITIVE_INFINITY }: RedisTableOptions) {
    this.name = name;
    this.features = { clock: "store", durable, multiProcess: true, maxValueBytes, permits: true };
    this.grouping = { maxWrites, isOutage: (cause) => isOutage(name, cause) };
    this.#keys = keysOf(prefix);
    this.#runScript = run;
    this.#retentionMs = wholeMs(retentionMs);
    this.#maxRequestBytes = maxRequestBytes;
  }

  async now(): Promise<EpochMs> {
    return (await this.read([])).now;
  }

  async read(ids: readonly string[]): ReturnType<ExecutionTable["read"]> {
    const [now, ...guards] = await this.#run(readScript, ids, []);
    return { now: Number(said(now)), found: new Map(guardsIn(guards).map((guard) => [guard.id, guard])) };
  }

  async load(ids: readonly string[]): ReturnType<ExecutionTable["load"]> {
    const found = new Map<string, StoredRows>();
    for (let rest = ids; rest.length > 0; ) {
      const replies = await this.#run(loadScript, rest, []);
      const loaded = await Promise.all(replies.map((reply, index) => this.#wholeRows(rest[index]!, listOf(reply))));
      for (const rows of loaded) if (rows) found.set(rows.workflowId, rows);
      rest = rest.slice(replies.length);
    }
    return found;
  }

  async write(writes: readonly RowWrite[]): Promise<RowAnswer[]> {
    const answers = new Map<RowWrite, RowAnswer>();
    await Promise.all(this.#portionsOf(writes, answers).map((portion) => this.#send(portion, answers)));
    return writes.map((write) => answers.get(write) ?? null);
  }

  async events(id: string, afterVersion: number, limit: number): Promise<StoredEvent[]> {
    return this.#eventsFrom(id, afterVersion + 1, limit, null);
  }

  async due({ key, limit, overdueMs }: DueQuery): Promise<DueExecutions> {
    const args = [String(overdueMs), String(limit), key === null ? "" : `=${key}`];
    const [areKeysDue, ...guards] = await this.#run(dueScript, [], args);
    return { executions: guardsIn(guards), areKeysDue: said(areKeysDue) !== null };
  }

  async dueKeys(after: string, limit: number, overdueMs: number): Promise<DueKeys> {
    const args = [String(overdueMs), String(limit), after === "" ? "-" : `(${after}`];
    const [last, ...permits] = (await this.#run(dueKeysScript, [], args)).map(said);
    return { keys: permits.map((permit) => readPermit(permit)!), next: last ?? null };
  }

  async page(query: CheckedQuery, labels: readonly string[], after: ListCursor | null, limit: number): Promise<ListedRow[]> {
    const { status, definitionId, createdBefore = Number.MAX_SAFE_INTEGER, createdAfter = -1 } = query;
    if (status?.length === 0) return [];
    const before = [sortable(createdBefore), ...(after ? [sortable(after.createdAt) + sortable(after.seq)] : [])].sort()[0]!;
    const range = [`(${before}`, `[${sortable(Math.floor(createdAfter) + 1)}`] as const;
    const rows = await this.#scan("created", range, limit, { statuses: status ?? [], definitionId: definitionId ?? null, labels });
    return rows.map((row) => {
      const [definition, metadata, head] = row.slice(-3).map((value) => said(value) ?? "");
      const guard = readGuard(row)!;
      const leaseUntil = guard.owner === null ? null : guard.dueAt;
      return { ...guard, definition: definition!, metadata: metadata!, head: head!, leaseUntil };
    });
  }

  async ended({ before, limit, ended }: EndedQuery): Promise<ExecutionGuard[]> {
    // the server removes tombstones by itself
    return ended ? guardsIn(await this.#scan("ended", ["-", `(${sortable(before)}`], limit, { ...ended, labels: [] })) : [];
  }

  readonly records: ExecutionTable["records"] = {
    get: async (kind, keys) => {
      const texts = (await this.#run(getRecordsScript, [], [kind, ...keys])).map(said);
      const found = keys.flatMap((key, index) => {
        const [, revision, text] = /^(\S+) (.*)$/s.exec(texts[index] ?? "") ?? [];
        return revision === undefined || text === undefined ? [] : [[key, { key, revision, text }] as const];
      });
      return new Map(found);
    },
    put: async (kind, writes) => {
      const args = writes.flatMap(({ key, expected, next }) => [key, expected ?? "", next ? `${next.revision} ${next.text}` : ""]);
      return (await this.#run(putRecordsScript, [], [kind, ...args])).map((made) => said(made) !== null);
    },
  };

  async claimDue(claim: Parameters<NonNullable<ExecutionTable["claimDue"]>>[0]): Promise<DueClaimed> {
    const args = [claim.owner, String(claim.leaseMs), String(claim.limit), String(claim.overdueMs)];
    const [now, areKeysDue, ...taken] = await this.#run(claimScript, [], args);
    const executions = guardsIn(taken.map((one) => listOf(one)[0]));
    const replies = taken.map((one) => listOf(listOf(one)[1]));
    const loaded = await Promise.all(executions.map(({ id }, index) => this.#wholeRows(id, replies[index]!)));
    const rows = new Map(loaded.flatMap((one) => (one ? [[one.workflowId, one] as const] : [])));
    return { now: Number(said(now)), executions, rows, areKeysDue: said(areKeysDue) !== null };
  }

  async close(): Promise<void> {}

  async #run(script: Script, ids: readonly string[], args: readonly string[]): Promise<readonly unknown[]> {
    return listOf(await this.#runScript(script, [this.#keys.due, ...ids.map((id) => this.#keys.head(id))], args));
  }

  /** Most groups are one script; large writes go in scripts of their own, and what is too large is not sent. */
  #portionsOf(writes: readonly RowWrite[], answers: Map<RowWrite, RowAnswer>): SentWrite[][] {
    const portions: SentWrite[][] = [];
    let length = Number.POSITIVE_INFINITY;
    for (const write of writes) {
      const args = writeArgs(write, this.#retentionMs);
      const ownLength = args.reduce((sum, arg) => sum + arg.length, 0);
      const refused = this.#refusalOf(write.id, args, ownLength);
      if (refused) {
        answers.set(write, refused);
        continue;
      }
      if (length + ownLength > maxTextLength) {
        portions.push([]);
        length = 0;
      }
      portions.at(-1)!.push({ write, args });
      length += ownLength;
    }
    return portions;
  }

  /** Why a write does not fit into one request. JSON in JSON grows, sixfold at most. */
  #refusalOf(workflowId: string, args: readonly string[], length: number): StepfoldError | null {
    const max = this.#maxRequestBytes;
    if (length * 6 <= max) return null;
    const actual = bytesOf(JSON.stringify(args));
    if (actual <= max) return null;
    const what = `A commit of execution "${workflowId}"`;
    return new StepfoldError("LIMIT_EXCEEDED", { what, limit: `${this.name} request in bytes`, max, actual });
  }

  async #send(portion: readonly SentWrite[], answers: Map<RowWrite, RowAnswer>): Promise<void> {
    const ids = portion.map(({ write }) => write.id);
    const replies = await this.#run(
      writeScript,
      ids,
      portion.flatMap(({ args }) => args),
    );
    for (const [index, { write }] of portion.entries()) answers.set(write, this.#answerOf(write, listOf(replies[index])));
  }

  #answerOf(write: RowWrite, reply: readonly unknown[]): RowAnswer {
    const [now, version, status] = reply.map(said);
    if (now === "damaged") {
      return new StepfoldError("STORE_REJECTED", { store: this.name, reason: `what is stored of execution "${write.id}" is damaged` });
    }
    if (now == null) return null;
    const before = { version: Number(version), status: status as Status };
    const after = write.kind === "insert" ? write.row : write.kind === "update" ? (write.set.state ?? before) : before;
    return { now: Number(now), version: after.version, status: after.status };
  }

  /** The rows of a reply, with the end of a long history. Null if the execution is not there. */
  async #wholeRows(workflowId: string, reply: readonly unknown[]): Promise<StoredRows | null> {
    if (reply.length === 0) return null;
    const rows = readRows(workflowId, reply);
    if (!rows) return { ...damagedRows, workflowId };
    const { version, incarnation, events } = rows;
    const missing = version + 1 - events.length;
    const more = missing > 0 ? await this.#eventsFrom(workflowId, events.length, missing, incarnation) : [];
    // what has lost events is damaged
    return { ...rows, events: more.length < missing ? [] : [...events, ...more.map(({ text }) => text)] };
  }

  /** A part of a history. It ends where another execution of the same id is found. */
  async #eventsFrom(id: string, from: number, limit: number, incarnation: string | null): Promise<StoredEvent[]> {
    const events: StoredEvent[] = [];
    for (let expected = incarnation; events.length < limit; ) {
      const first = from + events.length;
      const [found, rows] = await this.#run(eventsScript, [id], [String(first), String(limit - events.length)]);
      expected ??= said(found);
      if (said(found) !== expected || listOf(rows).length === 0) break;
      events.push(...listOf(rows).map((row, index) => ({ version: first + index, ...readEventRow(row) })));
    }
    return events;
  }

  /** Rows of an index. Where a filter lets few through it takes several scripts, each of which looks at about 1,000. */
  async #scan(
    index: "created" | "ended",
    [from, to]: readonly [from: string, to: string],
    limit: number,
    { statuses, definitionId, labels }: { statuses: readonly string[]; definitionId: string | null; labels: readonly string[] },
  ): Promise<(readonly unknown[])[]> {
    const rows: (readonly unknown[])[] = [];
    const filters = [...manyArgs(statuses), definitionId === null ? "" : `=${definitionId}`, ...manyArgs(labels.map(labelField))];
    for (let place: string | null = from; place !== null && rows.length < limit; ) {
      const args: string[] = [index, place, to, String(limit - rows.length), ...filters];
      const [next, found] = await this.#run(scanScript, [], args);
      rows.push(...listOf(found).map(listOf));
      place = said(next);
    }
    return rows;
  }
}

interface SentWrite {
  readonly write: RowWrite;
  readonly args: readonly string[];
}

const damagedRows: Omit<StoredRows, "workflowId"> = { version: 0, status: "active", head: "", events: [], children: [] };

/** A time or number as text that is in order. */
function sortable(value: number): string {
  return String(Math.min(Math.max(Math.ceil(value), 0), Number.MAX_SAFE_INTEGER)).padStart(16, "0");
}

function guardsIn(replies: readonly unknown[]): ExecutionGuard[] {
  return replies.flatMap((reply) => readGuard(listOf(reply)) ?? []);
}

/** Whole milliseconds that the server can add to its clock. */
function wholeMs(durationMs: number): string {
  if (durationMs >= 0) return Math.min(Math.ceil(durationMs), 1e14).toFixed(0);
  throw new StepfoldError("OPTION_INVALID", { option: "idempotencyRetentionMs", reason: "must be a number of milliseconds, at least 0" });
}
