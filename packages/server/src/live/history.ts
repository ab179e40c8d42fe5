import type { AppendedRow, SnapshotStore } from "stepfold";

/** The most events that are kept in memory. */
const maxKept = 1_000;
const pageSize = 500;

/**
 * The events of an execution that is looked at. The latest are kept, so that many who come or come back at once cost one read; older ones
 * are read from the store.
 */
export class History {
  readonly #store: SnapshotStore;
  readonly #workflowId: string;
  #rows: AppendedRow[] = [];
  /** All events after this version are in `#rows`. */
  #since: number;
  #version: number;
  readonly #pages = new Map<number, Promise<readonly AppendedRow[]>>();

  constructor(store: SnapshotStore, workflowId: string, version: number) {
    this.#store = store;
    this.#workflowId = workflowId;
    this.#since = version;
    this.#version = version;
  }

  /** Adds the next event. */
  append(row: AppendedRow): void {
    this.#rows.push(row);
    this.#version = row.version;
    if (this.#rows.length > maxKept * 1.5) {
      const dropped = this.#rows.splice(0, this.#rows.length - maxKept);
      this.#since = dropped.at(-1)!.version;
    }
  }

  /** Returns the next events after a version, the oldest first; none if there are no more now. */
  async after(version: number): Promise<readonly AppendedRow[]> {
    if (version >= this.#version) return [];
    if (version >= this.#since) return this.#rows.filter((row) => row.version > version);
    const page = await this.#page(version);
    // what the page lacks has been added meanwhile, and is asked for next
    return page.length > 0 ? page : [...this.#rows];
  }

  #page(version: number): Promise<readonly AppendedRow[]> {
    let page = this.#pages.get(version);
    if (!page) {
      page = this.#read(version).finally(() => this.#pages.delete(version));
      this.#pages.set(version, page);
    }
    return page;
  }

  async #read(version: number): Promise<readonly AppendedRow[]> {
    const since = this.#since;
    const rows = await this.#store.events(this.#workflowId, version, pageSize);
    const older = rows.filter((row) => row.version <= since);
    const isJoined = rows.length < pageSize || rows.at(-1)!.version >= since;
    if (isJoined && since === this.#since && older.length + this.#rows.length <= maxKept) {
      this.#rows = [...older, ...this.#rows];
      this.#since = version;
    }
    // events beyond what is folded are told when they are folded
    return rows.filter((row) => row.version <= this.#version);
  }
}
