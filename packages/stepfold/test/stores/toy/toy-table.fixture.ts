import type { ExecutionGuard, RowHistory, RowWrite, RowWritten, StoredEvent } from "../../../src/stores/kit/execution-rows.ts";
import type { DueExecutions, DueKey, DueKeys, DueQuery, ExecutionTable } from "../../../src/stores/kit/execution-table.ts";
import type {
  EarlierRunsQuery,
  EndedQuery,
  LaterRun,
  ListedPart,
  ListedRow,
  ListTable,
  PageQuery,
} from "../../../src/stores/kit/lists/list-table.ts";
import type { RecordWrite } from "../../../src/stores/kit/record-table.ts";
import type { StoredRows } from "../../../src/stores/kit/restoring/restored-snapshot.ts";
import {
  changeChildren,
  type ExecutionRow,
  earlierRuns,
  endedRows,
  exemptRows,
  insertedRow,
  isListed,
  meetsCondition,
  rowAfter,
} from "../../../src/stores/kit/row-rules.ts";
import type { ToyClient, ToyEntry, ToyKey } from "./toy-client.fixture.ts";
import { indexKeys, keys } from "./toy-schema.fixture.ts";
import { after } from "./toy-server.fixture.ts";

/** Executions in the toy database. */
export class ToyTable implements ExecutionTable, ListTable {
  readonly lists: ListTable = this;
  readonly name = "toy";
  readonly features = { clock: "store", durable: true, multiProcess: true, permits: true } as const;
  readonly #client: ToyClient;

  constructor(client: ToyClient) {
    this.#client = client;
  }

  async read(ids: readonly string[]): ReturnType<ExecutionTable["read"]> {
    const rows = await this.#rows(ids);
    return { now: await this.#client.now(), found: new Map(rows.map((row) => [row.id, row])) };
  }

  async load(ids: readonly string[]): ReturnType<ExecutionTable["load"]> {
    const loaded = await Promise.all(ids.map((id) => this.#load(id)));
    return new Map(loaded.flatMap((rows) => (rows ? [[rows.workflowId, rows]] : [])));
  }

  async heads(ids: readonly string[]): Promise<ListedRow[]> {
    return (await this.#rows(ids)).filter(({ deletedAt }) => deletedAt === null);
  }

  write(writes: readonly RowWrite[]): Promise<(RowWritten | null)[]> {
    return Promise.all(writes.map((write) => this.#write(write)));
  }

  async events(id: string, afterVersion: number, limit: number): Promise<StoredEvent[]> {
    const [row] = await this.#rows([id]);
    if (!row) return [];
    const found = await this.#client.range(keys.event(row.seq, afterVersion + 1), after(keys.events(row.seq)), { limit });
    return found.map(({ value }) => JSON.parse(value) as StoredEvent);
  }

  async due({ keys: wanted, limit, overdueMs }: DueQuery): Promise<DueExecutions> {
    const until = (await this.#client.now()) - overdueMs;
    const found = await Promise.all((wanted ?? [null]).map((key) => this.#due(key, until, limit)));
    return { executions: found.flat(), keyedDue: "exempt" };
  }

  /** Reads one entry for each key, and skips the executions that wait behind the first one of the key. */
  async dueKeys(afterKey: string, limit: number, overdueMs: number): Promise<DueKeys> {
    const until = (await this.#client.now()) - overdueMs;
    const found: DueKey[] = [];
    let from = afterKey === "" ? after(keys.due(null)) : after(keys.due(afterKey));
    for (let looks = 0; looks < 500 && found.length < limit; looks++) {
      const [entry] = await this.#client.range(from, after(["due"]), { limit: 1 });
      if (!entry) return { keys: found, next: null };
      const [, key, dueAt] = entry.key as [string, string, number];
      const [row] = dueAt <= until ? await this.#rows([JSON.parse(entry.value) as string]) : [];
      if (row?.permit) found.push(row.permit);
      from = after(keys.due(key));
    }
    return { keys: found, next: from[1] as string };
  }

  async exempt(limit: number, overdueMs: number): Promise<ExecutionGuard[]> {
    const now = await this.#client.now();
    const until = Math.max(0, now - overdueMs);
    return exemptRows(await this.#indexed(await this.#client.range(keys.exempt(), keys.exempt(until + 1))), limit, now, overdueMs);
  }

  /** Reads one range of the index and leaves out the rows that are not asked for. The kit reads on until a page is full. */
  async page(query: PageQuery): Promise<ListedPart> {
    const isReverse = query.order === "newest";
    const cursor = query.after && keys.created(query.after.createdAt, query.after.seq);
    const [from, before] = isReverse
      ? [keys.created(), cursor ?? after(keys.created())]
      : [cursor ? after(cursor) : keys.created(), after(keys.created())];
    const entries = await this.#client.range(from, before, { limit: query.limit, isReverse });
    const rows = await this.#indexed(entries);
    const [, createdAt, seq] = (entries.at(-1)?.key ?? []) as [string, number, number];
    const next = entries.length < query.limit ? null : { createdAt, seq };
    return { rows: rows.filter((row) => isListed(row, query)), next, looked: entries.length };
  }

  async ended(query: EndedQuery): Promise<ExecutionGuard[]> {
    const index = query.ended ? keys.ended : keys.deleted;
    const rows = await this.#indexed(await this.#client.range(index(), index(query.before)));
    return endedRows(rows, query);
  }

  async earlierRuns(query: EarlierRunsQuery): Promise<LaterRun[]> {
    return earlierRuns(await this.#indexed(await this.#client.range(keys.run(), keys.run(query.before))), query);
  }

  readonly records: ExecutionTable["records"] = {
    get: async (kind, wanted) => {
      const found = await Promise.all(wanted.map((key) => this.#client.get(keys.record(kind, key))));
      return new Map(found.flatMap((entry, index) => (entry ? [[wanted[index]!, JSON.parse(entry.value)]] : [])));
    },
    put: (kind, writes) => Promise.all(writes.map((write) => this.#putRecord(keys.record(kind, write.key), write))),
  };

  /** Reads the row before and after its events and children. If both rows are equal, all parts have the same version. */
  async #load(id: string): Promise<StoredRows | null> {
    for (;;) {
      const entry = await this.#client.get(keys.row(id));
      const row = entry && (JSON.parse(entry.value) as ExecutionRow);
      if (!row || row.deletedAt !== null) return null;
      const from = keys.event(row.seq, (row.checkpointVersion ?? -1) + 1);
      const [events, children] = await Promise.all([
        this.#client.range(from, after(keys.events(row.seq))),
        this.#client.get(keys.children(row.seq)),
      ]);
      if ((await this.#client.get(keys.row(id)))?.revision !== entry.revision) continue;
      const texts = events.map(({ value }) => (JSON.parse(value) as StoredEvent).text);
      return { ...row, workflowId: id, events: texts, children: childrenIn(children) };
    }
  }

  /** Judges the condition of a write here. The transaction only checks that the row has not changed since. */
  async #write(write: RowWrite): Promise<RowWritten | null> {
    for (;;) {
      const [entry, now] = await Promise.all([this.#client.get(keys.row(write.id)), this.#client.now()]);
      const before = entry && (JSON.parse(entry.value) as ExecutionRow);
      if (write.kind === "insert" ? before : !before || !meetsCondition(before, write.when, now)) return null;
      const next = write.kind === "insert" ? insertedRow(write, await this.#client.nextNumber(), now) : rowAfter(before!, write, now);
      const isMade = await this.#client.commit({
        checks: [{ key: keys.row(write.id), revision: entry?.revision ?? null }],
        puts: [
          ...(before ? indexKeys(before) : []).map((key) => ({ key, value: null })),
          ...(next ? indexKeys(next) : []).map((key) => ({ key, value: JSON.stringify(write.id) })),
          { key: keys.row(write.id), value: next && JSON.stringify(next) },
          ...(write.kind === "trim" ? await this.#trimmed(before!.seq, write.when.runSince) : []),
          ...("history" in write && write.history ? await this.#history(next!, write.history) : []),
        ],
        deletes: write.kind === "bury" ? [keys.events(before!.seq), keys.children(before!.seq)] : [],
      });
      const { version, status } = next ?? before!;
      if (isMade) return { now, version, status };
    }
  }

  async #trimmed(seq: number, before: number): Promise<{ key: ToyKey; value: null }[]> {
    return (await this.#client.range(keys.event(seq, 1), keys.event(seq, before))).map(({ key }) => ({ key, value: null }));
  }

  async #history({ seq }: ExecutionRow, { commitId, events, children }: RowHistory): Promise<{ key: ToyKey; value: string }[]> {
    const puts = events.map((event) => ({ key: keys.event(seq, event.version), value: JSON.stringify({ ...event, commitId }) }));
    if (children.length === 0) return puts;
    const heads = new Map(childrenIn(await this.#client.get(keys.children(seq))));
    changeChildren(heads, children);
    return [...puts, { key: keys.children(seq), value: JSON.stringify([...heads]) }];
  }

  async #putRecord(key: ToyKey, { key: name, expected, next }: RecordWrite): Promise<boolean> {
    const entry = await this.#client.get(key);
    const stored = entry && (JSON.parse(entry.value) as { revision: string });
    if ((stored?.revision ?? null) !== expected) return false;
    const value = next && JSON.stringify({ key: name, ...next });
    return this.#client.commit({ checks: [{ key, revision: entry?.revision ?? null }], puts: [{ key, value }] });
  }

  async #due(key: string | null, until: number, limit: number): Promise<ExecutionRow[]> {
    return this.#indexed(await this.#client.range(keys.due(key), after(keys.due(key, until)), { limit }));
  }

  /** The rows of entries of an index. */
  #indexed(entries: readonly ToyEntry[]): Promise<ExecutionRow[]> {
    return this.#rows(entries.map(({ value }) => JSON.parse(value) as string));
  }

  async #rows(ids: readonly string[]): Promise<ExecutionRow[]> {
    const entries = await Promise.all(ids.map((id) => this.#client.get(keys.row(id))));
    return entries.flatMap((entry) => (entry ? [JSON.parse(entry.value) as ExecutionRow] : []));
  }
}

function childrenIn(entry: ToyEntry | null): [string, string][] {
  return entry ? (JSON.parse(entry.value) as [string, string][]) : [];
}
