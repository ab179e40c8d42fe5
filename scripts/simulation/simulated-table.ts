import { StepfoldError } from "../../packages/stepfold/src/core/errors/stepfold-error.ts";
import type { EpochMs } from "../../packages/stepfold/src/core/values/json.ts";
import { MemoryTable } from "../../packages/stepfold/src/stores/databases/memory/memory-table.ts";
import type { RowAnswer, RowWrite } from "../../packages/stepfold/src/stores/kit/execution-rows.ts";
import type { DueExecutions, DueQuery, ExecutionTable } from "../../packages/stepfold/src/stores/kit/execution-table.ts";
import { skipsLocked } from "../../packages/stepfold/src/stores/kit/row-rules.ts";
import type { StoreWorld } from "../../packages/stepfold/src/testing/simulation/scenario.ts";

/** A write that can be repeated on another table. */
interface Written {
  readonly at: EpochMs;
  readonly again: (table: MemoryTable) => unknown;
}

/**
 * A table in memory whose rows other transactions can lock, and which can fail over to an older copy of itself: it keeps all writes
 * with their times, and repeats those up to a certain time in a new table.
 */
export class SimulatedTable implements ExecutionTable {
  readonly name = "simulated";
  readonly features = { clock: "store", durable: true, multiProcess: true, permits: true } as const;
  readonly records: ExecutionTable["records"];
  readonly #world: StoreWorld;
  #table: MemoryTable;
  #written: Written[] = [];
  /** Resolves at the next failover, which ends all waits for locks. */
  #switched!: Promise<void>;
  #endWaits: () => void = () => undefined;
  /** The time of the write that is being repeated; null if none is. */
  #againAt: EpochMs | null = null;

  readonly #onLost: (workflowId: string) => void;

  /**
   * Makes an empty table.
   * @param onLost is called for each execution of which a failover has lost commits
   */
  constructor(world: StoreWorld, onLost: (workflowId: string) => void) {
    this.#world = world;
    this.#onLost = onLost;
    this.#table = this.#newTable();
    this.#expectSwitch();
    world.onFailover((asOf) => this.#failOver(asOf));
    this.records = {
      get: (kind, keys) => this.#table.records.get(kind, keys),
      put: (kind, writes) => this.#write((table) => table.records.put(kind, writes)),
    };
  }

  read(ids: readonly string[]): ReturnType<ExecutionTable["read"]> {
    return this.#table.read(ids);
  }

  load(ids: readonly string[]): ReturnType<ExecutionTable["load"]> {
    return this.#table.load(ids);
  }

  heads(ids: readonly string[]): ReturnType<ExecutionTable["heads"]> {
    return this.#table.heads(ids);
  }

  write(writes: readonly RowWrite[]): Promise<RowAnswer[]> {
    return Promise.all(writes.map((write) => this.#writeRow(write)));
  }

  events(id: string, afterVersion: number, limit: number): ReturnType<ExecutionTable["events"]> {
    return this.#table.events(id, afterVersion, limit);
  }

  due(query: DueQuery): Promise<DueExecutions> {
    return this.#table.due(query);
  }

  dueKeys(after: string, limit: number, overdueMs: number): ReturnType<ExecutionTable["dueKeys"]> {
    return this.#table.dueKeys(after, limit, overdueMs);
  }

  exempt(limit: number, overdueMs: number): ReturnType<ExecutionTable["exempt"]> {
    return this.#table.exempt(limit, overdueMs);
  }

  readonly lists: ExecutionTable["lists"] = {
    page: (query) => this.#table.lists.page(query),
    ended: (query) => this.#table.lists.ended(query),
    earlierRuns: (query) => this.#table.lists.earlierRuns(query),
  };

  /**
   * Writes a row. A write that must not wait passes over a locked row; every other write waits for the lock, and fails if the server
   * fails over meanwhile.
   */
  async #writeRow(write: RowWrite): Promise<RowAnswer> {
    const { lockedForMs, sleep } = this.#world;
    const table = this.#table;
    for (let forMs = lockedForMs(write.id); forMs > 0; forMs = lockedForMs(write.id)) {
      if (skipsLocked(write)) return "passedOver";
      await Promise.race([sleep(forMs), this.#switched]);
      if (this.#table !== table) throw new StepfoldError("STORE_UNAVAILABLE", { store: this.name, reason: "the server failed over" });
    }
    const [answer = null] = await this.#write((one) => one.write([write]));
    return answer;
  }

  #write<T>(again: (table: MemoryTable) => T): T {
    this.#written.push({ at: this.#world.now(), again });
    return again(this.#table);
  }

  #failOver(asOf: EpochMs): void {
    const before = this.#table.rows;
    this.#table = this.#newTable();
    this.#written = this.#written.filter(({ at }) => at <= asOf);
    for (const { at, again } of this.#written) {
      this.#againAt = at;
      // a table in memory has written when the call returns, before its promise resolves
      void again(this.#table);
    }
    this.#againAt = null;
    for (const [id, { version }] of before) if (this.#table.rows.get(id)?.version !== version) this.#onLost(id);
    this.#endWaits();
    this.#expectSwitch();
  }

  #expectSwitch(): void {
    this.#switched = new Promise((resolve) => {
      this.#endWaits = resolve;
    });
  }

  #newTable(): MemoryTable {
    return new MemoryTable(() => this.#againAt ?? this.#world.now());
  }
}
