import { isTerminal } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { CheckedQuery } from "../../kit/checked-store.ts";
import type * as kit from "../../kit/execution-table.ts";
import type { RecordWrite, StoredRecord } from "../../kit/record-table.ts";
import { byDueTime, byNewest, changeChildren, dueAtAfter, isListed, meetsCondition } from "../../kit/row-rules.ts";
import { SortedList } from "../../kit/sorted-list.ts";

/** An execution in memory. Values are kept as text: what is loaded went through JSON, and nothing is shared with the caller. */
interface MemoryRow extends kit.ExecutionGuard, Omit<kit.NewExecution, "due"> {
  readonly createdAt: EpochMs;
  readonly updatedAt: EpochMs;
  readonly endedAt: EpochMs | null;
  /** Index = version. */
  readonly events: kit.StoredEvent[];
  /** Heads by key, in order of creation. */
  readonly children: Map<string, string>;
}

/** Executions in the memory of this process. */
export class MemoryTable implements kit.ExecutionTable {
  readonly name = "memory";
  readonly features = { clock: "store", durable: false, multiProcess: false, permits: true } as const;
  readonly rows: Map<string, MemoryRow> = new Map();
  readonly #clock: () => EpochMs;
  /** What is due, by the key of its permit; under null what has none. */
  readonly #due = new Map<string | null, SortedList<MemoryRow>>();
  readonly #records = new Map<string, StoredRecord>();
  #lastSeq = 0;

  constructor(clock: () => EpochMs) {
    this.#clock = clock;
  }

  async now(): Promise<EpochMs> {
    return this.#clock();
  }

  async read(ids: readonly string[]): ReturnType<kit.ExecutionTable["read"]> {
    return { now: this.#clock(), found: new Map(ids.flatMap((id) => pairs(id, this.rows.get(id)))) };
  }

  async load(ids: readonly string[]): ReturnType<kit.ExecutionTable["load"]> {
    const rows = ids.flatMap((id) => this.rows.get(id) ?? []).filter(({ deletedAt }) => deletedAt === null);
    const texts = (events: readonly kit.StoredEvent[]): string[] => events.map(({ text }) => text);
    return new Map(rows.map((row) => [row.id, { ...row, workflowId: row.id, events: texts(row.events), children: [...row.children] }]));
  }

  async write(writes: readonly kit.RowWrite[]): Promise<(kit.RowWritten | null)[]> {
    return writes.map((write) => {
      const now = this.#clock();
      const row = this.rows.get(write.id);
      if (write.kind === "insert" ? row : !row || !meetsCondition(row, write.when, now)) return null;
      const next = write.kind === "insert" ? this.#newRow(write, now) : rowAfter(row!, write, now);
      this.#replace(row, write.kind === "remove" ? undefined : next);
      if ("history" in write && write.history) append(next, write.history);
      return { now, version: next.version, status: next.status };
    });
  }

  async events(id: string, afterVersion: number, limit: number): Promise<kit.StoredEvent[]> {
    return this.rows.get(id)?.events.slice(afterVersion + 1, afterVersion + 1 + limit) ?? [];
  }

  async due({ keys, limit, overdueMs }: kit.DueQuery): Promise<kit.DueExecutions> {
    const executions = (keys ?? [null]).flatMap((key) => this.#firstDue(key, limit, overdueMs));
    return { executions, areKeysDue: this.#dueKeys("", overdueMs).length > 0 };
  }

  async dueKeys(after: string, limit: number, overdueMs: number): Promise<kit.DueKeys> {
    const keys = this.#dueKeys(after, overdueMs);
    return { keys: keys.slice(0, limit), next: keys.length > limit ? keys[limit - 1]!.key : null };
  }

  async page(query: CheckedQuery, labels: readonly string[], after: kit.ListCursor | null, limit: number): Promise<kit.ListedRow[]> {
    const found = [...this.rows.values()].filter((row) => isListed(row, query, labels, after)).sort(byNewest);
    return found.slice(0, limit);
  }

  async ended({ before, limit, ended }: kit.EndedQuery): Promise<kit.ExecutionGuard[]> {
    const timeOf = ({ endedAt, deletedAt }: MemoryRow): EpochMs => (ended ? endedAt : deletedAt) ?? Number.POSITIVE_INFINITY;
    const isWanted = ({ status, definitionId }: MemoryRow): boolean =>
      !ended || (ended.statuses.includes(status) && (ended.definitionId ?? definitionId) === definitionId);
    const found = [...this.rows.values()].filter((row) => timeOf(row) < before && isWanted(row));
    return found.sort((a, b) => timeOf(a) - timeOf(b) || a.seq - b.seq).slice(0, limit);
  }

  readonly records: kit.ExecutionTable["records"] = {
    get: async (kind, keys) => new Map(keys.flatMap((key) => pairs(key, this.#records.get(`${kind} ${key}`)))),
    put: async (kind, writes) => writes.map((write) => this.#putRecord(`${kind} ${write.key}`, write)),
  };

  async close(): Promise<void> {}

  #newRow({ id, row: { due, ...given } }: kit.RowWrite & { kind: "insert" }, now: EpochMs): MemoryRow {
    const times = { createdAt: now, updatedAt: now, endedAt: isTerminal(given.status) ? now : null, deletedAt: null };
    const row = { ...given, ...times, id, seq: ++this.#lastSeq, crashes: 0, dueAt: null, events: [], children: new Map() };
    return { ...row, dueAt: dueAtAfter(row, { due }, now) };
  }

  #firstDue(key: string | null, limit: number, overdueMs: number): MemoryRow[] {
    const until = this.#clock() - overdueMs;
    return this.#due.get(key)?.first(limit, ({ dueAt }) => dueAt! <= until) ?? [];
  }

  #dueKeys(after: string, overdueMs: number): kit.DueKey[] {
    const keys = [...this.#due.keys()].filter((key) => key !== null && key > after).sort();
    return keys.flatMap((key) => this.#firstDue(key, 1, overdueMs).map(({ permit }) => permit!));
  }

  #replace(row: MemoryRow | undefined, next: MemoryRow | undefined): void {
    const key = (row ?? next)!.permit?.key ?? null;
    const due = this.#due.get(key) ?? new SortedList<MemoryRow>(byDueTime);
    if (row && row.dueAt !== null) due.remove(row);
    if (next && next.dueAt !== null) due.add(next);
    if (due.size > 0) this.#due.set(key, due);
    else this.#due.delete(key);
    if (next) this.rows.set(next.id, next);
    else this.rows.delete(row!.id);
  }

  #putRecord(place: string, { key, expected, next }: RecordWrite): boolean {
    if ((this.#records.get(place)?.revision ?? null) !== expected) return false;
    if (next) this.#records.set(place, { key, ...next });
    else this.#records.delete(place);
    return true;
  }
}

function rowAfter(row: MemoryRow, write: Exclude<kit.RowWrite, { kind: "insert" }>, now: EpochMs): MemoryRow {
  if (write.kind !== "update") {
    const empty = { head: "", metadata: "{}", labels: [], events: [], children: new Map() };
    return { ...row, ...empty, owner: null, dueAt: null, endedAt: null, deletedAt: now };
  }
  const { state, due: _, dueUnlessHeld: __, ...columns } = write.set;
  const times = state && { updatedAt: now, endedAt: isTerminal(state.status) ? now : null };
  return { ...row, ...columns, ...state, ...times, dueAt: dueAtAfter(row, write.set, now) };
}

function append({ events, children }: MemoryRow, history: kit.RowHistory): void {
  for (const event of history.events) events.push({ ...event, commitId: history.commitId });
  changeChildren(children, history.children);
}

function pairs<T>(key: string, value: T | undefined): [string, T][] {
  return value === undefined ? [] : [[key, value]];
}
