import type { EpochMs } from "../../../core/values/json.ts";
import type { ExecutionGuard, RowHistory, RowWrite, RowWritten, StoredEvent } from "../../kit/execution-rows.ts";
import type { DueExecutions, DueKeys, DueQuery, ExecutionTable } from "../../kit/execution-table.ts";
import type { EarlierRunsQuery, EndedQuery, LaterRun, ListedPart, ListedRow, ListTable, PageQuery } from "../../kit/lists/list-table.ts";
import { SortedList } from "../../kit/lists/sorted-list.ts";
import type { StoredRecord } from "../../kit/record-table.ts";
import * as rules from "../../kit/row-rules.ts";

/** What the commits of an execution wrote. */
interface History {
  /** The event of version n is at index n. */
  readonly events: StoredEvent[];
  /** Heads of children by key, in order of creation. The key "" has the last checkpoint. */
  readonly children: Map<string, string>;
}

/** An execution in memory. JSON values are kept as text, so that each load parses them again and shares no object with the caller. */
type MemoryRow = rules.ExecutionRow & { readonly history: History };

/** Executions in the memory of this process. */
export class MemoryTable implements ExecutionTable, ListTable {
  readonly lists: ListTable = this;
  readonly name = "memory";
  readonly features = { clock: "store", durable: false, multiProcess: false, permits: true } as const;
  readonly rows: Map<string, MemoryRow> = new Map();
  readonly #clock: () => EpochMs;
  /** Executions with a due time, in order of that time, by the key of their permit; the key null stands for those without a permit. */
  readonly #due = new Map<string | null, SortedList<MemoryRow>>();
  /** Executions with `exemptAt`. */
  readonly #exempt = new Set<MemoryRow>();
  readonly #records = new Map<string, StoredRecord>();
  #lastSeq = 0;

  constructor(clock: () => EpochMs) {
    this.#clock = clock;
  }

  async read(ids: readonly string[]): ReturnType<ExecutionTable["read"]> {
    const rows = ids.flatMap((id) => this.rows.get(id) ?? []);
    return { now: this.#clock(), found: new Map(rows.map((row) => [row.id, row])) };
  }

  async load(ids: readonly string[]): ReturnType<ExecutionTable["load"]> {
    const rows = ids.flatMap((id) => this.rows.get(id) ?? []).filter(({ deletedAt }) => deletedAt === null);
    const textsIn = ({ history, ...row }: MemoryRow) =>
      history.events.slice(rules.ordinalOf((row.checkpointVersion ?? -1) + 1, row)).map(({ text }) => text);
    const loaded = rows.map((row) => ({ ...row, workflowId: row.id, events: textsIn(row), children: [...row.history.children] }));
    return new Map(loaded.map((row) => [row.workflowId, row]));
  }

  async heads(ids: readonly string[]): Promise<readonly ListedRow[]> {
    return ids.flatMap((id) => this.rows.get(id) ?? []).filter(({ deletedAt }) => deletedAt === null);
  }

  async write(writes: readonly RowWrite[]): Promise<(RowWritten | null)[]> {
    return writes.map((write) => {
      const now = this.#clock();
      const row = this.rows.get(write.id) ?? null;
      if (write.kind === "insert" ? row : !row || !rules.meetsCondition(row, write.when, now)) return null;
      const columns = write.kind === "insert" ? rules.insertedRow(write, ++this.#lastSeq, now) : rules.rowAfter(row!, write, now);
      const isKept = write.kind === "update" || write.kind === "trim";
      const history: History = isKept ? row!.history : { events: [], children: new Map() };
      if (write.kind === "trim") history.events.splice(1, write.when.runSince - 1 - row!.trimmed);
      const next = columns && { ...columns, history };
      this.#replace(row, next);
      if ("history" in write && write.history) append(history, write.history);
      const { version, status } = next ?? row!;
      return { now, version, status };
    });
  }

  async events(id: string, afterVersion: number, limit: number): Promise<StoredEvent[]> {
    const row = this.rows.get(id);
    const first = row ? rules.ordinalOf(afterVersion + 1, row) : 0;
    return row?.history.events.slice(first, first + limit) ?? [];
  }

  async due({ keys, limit, overdueMs }: DueQuery): Promise<DueExecutions> {
    const executions = (keys ?? [null]).flatMap((key) => this.#firstDue(key, limit, overdueMs));
    const isKeyDue = (key: string | null): boolean => key !== null && this.#firstDue(key, 1, overdueMs).length > 0;
    const someDue = this.#exempt.size > 0 ? "exempt" : "some";
    return { executions, keyedDue: [...this.#due.keys()].some(isKeyDue) ? someDue : "none" };
  }

  async dueKeys(after: string, limit: number, overdueMs: number): Promise<DueKeys> {
    const names = [...this.#due.keys()].filter((key) => key !== null && key > after).sort();
    const keys = names.flatMap((key) => this.#firstDue(key, 1, overdueMs).map(({ permit }) => permit!));
    return { keys: keys.slice(0, limit), next: keys.length > limit ? keys[limit - 1]!.key : null };
  }

  async exempt(limit: number, overdueMs: number): Promise<ExecutionGuard[]> {
    return rules.exemptRows(this.#exempt, limit, this.#clock(), overdueMs);
  }

  async page(query: PageQuery): Promise<ListedPart> {
    const listed = [...this.rows.values()].filter((row) => rules.isListed(row, query)).sort(rules.listOrder(query.order));
    return rules.listedPart(listed.slice(0, query.limit), query);
  }

  async ended(query: EndedQuery): Promise<ExecutionGuard[]> {
    return rules.endedRows([...this.rows.values()], query);
  }

  async earlierRuns(query: EarlierRunsQuery): Promise<LaterRun[]> {
    return rules.earlierRuns([...this.rows.values()], query);
  }

  readonly records: ExecutionTable["records"] = {
    get: async (kind, keys) => {
      const records = keys.flatMap((key) => this.#records.get(`${kind} ${key}`) ?? []);
      return new Map(records.map((record) => [record.key, record]));
    },
    put: async (kind, writes) =>
      writes.map(({ key, expected, next }) => {
        const id = `${kind} ${key}`;
        if ((this.#records.get(id)?.revision ?? null) !== expected) return false;
        if (next) this.#records.set(id, { key, ...next });
        else this.#records.delete(id);
        return true;
      }),
  };

  #firstDue(key: string | null, limit: number, overdueMs: number): MemoryRow[] {
    const until = this.#clock() - overdueMs;
    return this.#due.get(key)?.first(limit, ({ dueAt }) => dueAt! <= until) ?? [];
  }

  /** Replaces a row with its next state, also in the order of due times. `row` is null for a new row, `next` for one that is removed. */
  #replace(row: MemoryRow | null, next: MemoryRow | null): void {
    const { id } = (row ?? next)!;
    if (row && row.dueAt !== null) this.#changeDue(row, (due) => due.remove(row));
    if (next && next.dueAt !== null) this.#changeDue(next, (due) => due.add(next));
    if (row) this.#exempt.delete(row);
    if (next && next.exemptAt !== null) this.#exempt.add(next);
    if (next) this.rows.set(id, next);
    else this.rows.delete(id);
  }

  /** Changes the order of those that are due in the line of a row. */
  #changeDue({ permit }: MemoryRow, change: (due: SortedList<MemoryRow>) => void): void {
    const key = permit?.key ?? null;
    const due = this.#due.get(key) ?? new SortedList<MemoryRow>(rules.byDueTime);
    change(due);
    if (due.size > 0 || key === null) this.#due.set(key, due);
    else this.#due.delete(key);
  }
}

function append({ events, children }: History, { commitId, ...written }: RowHistory): void {
  for (const event of written.events) events.push({ ...event, commitId });
  rules.changeChildren(children, written.children);
}
