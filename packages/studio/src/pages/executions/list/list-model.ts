import type { Client, ExecutionListQuery, ListFrame, StreamFrame } from "stepfold/client";
import { failureOf } from "../../../ui/feedback/failure.ts";
import { isDoubtful } from "./doubt.ts";
import { type ListRow, type ListState, withArrived, withNews, withPage } from "./list-state.ts";

/** The part of the client that a list needs. */
export interface ListClient {
  readonly executions: Pick<Client["executions"], "list">;
  readonly stream: Client["stream"];
}

/** The clock of the server, as the page knows it. */
interface ListClock {
  readonly read: () => number;
  readonly synchronize: (storeNow: number) => void;
}

const pageSize = 100;
/** How often the rows that are seen are looked at, and those read again of which the stream does not tell: it tells of the first page only. */
const refreshMs = 5_000;
/** While a proxy collects the stream, the first page is read at every second look. */
const looksPerFirstPage = 2;
/** So many requests read again what is seen, at most: a screen is not longer. */
const maxReads = 2;

/**
 * The list of executions. Pages are loaded as they are needed; the stream tells of changes. Rows that are shown change where they are, new
 * ones wait. What has been loaded stays, whatever fails.
 */
export class ListModel {
  readonly query: ExecutionListQuery;
  readonly #client: ListClient;
  readonly #clock: ListClock;
  readonly #listeners = new Set<() => void>();
  #state: ListState;
  #stop: AbortController | null = null;
  #connection: AbortController | null = null;
  /** The rows that are seen: from an index to before another one. */
  #seen: readonly [first: number, end: number] = [0, 0];
  #looks = 0;
  #lastNewsAt: number | null = null;
  /** The stream has told nothing since it was connected, although it begins with the first page. */
  #isSilent = true;
  /** News that came before the first page: the page may be older. */
  #early: ListFrame[] = [];

  constructor(client: ListClient, query: ExecutionListQuery, clock: ListClock) {
    [this.#client, this.query, this.#clock] = [client, query, clock];
    this.#state = {
      rows: [],
      arrived: [],
      arrivedAt: 0,
      isLoaded: false,
      isLoadingMore: false,
      failure: null,
      nextCursor: null,
      looked: null,
      problem: null,
      link: { isLive: false, lastNewsAt: null, againAt: null, tryNow: this.tryNow },
    };
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly getState = (): ListState => this.#state;

  /**
   * Loads and follows the list until the returned function is called. What is shown stays, so it can be opened again: then only what has changed
   * is read.
   */
  readonly open = (): (() => void) => {
    const stop = new AbortController();
    this.#stop = stop;
    const timer = setInterval(() => void this.#refreshUntold(), refreshMs);
    void (this.#state.isLoaded ? this.#refresh(this.#seenRows(() => true)) : this.reload());
    this.#setLink(false, null);
    void this.#follow(stop.signal);
    return () => {
      clearInterval(timer);
      stop.abort();
    };
  };

  /** Loads the first page again. */
  readonly reload = (): Promise<void> => this.#load(undefined);

  /** Loads the next page, if there is one and nothing is being loaded. */
  readonly loadMore = async (): Promise<void> => {
    const { nextCursor, isLoadingMore, failure } = this.#state;
    if (nextCursor === null || isLoadingMore || failure) return;
    this.#update({ isLoadingMore: true });
    await this.#load(nextCursor);
  };

  /** Tries again what failed last. */
  readonly retry = async (): Promise<void> => {
    const { nextCursor, isLoaded } = this.#state;
    this.#update({ failure: null });
    await (isLoaded && nextCursor !== null ? this.loadMore() : this.reload());
  };

  /** Shows the rows that have arrived. */
  readonly showArrived = (): void => this.#set(withArrived(this.#state, this.query));

  /** Takes down which rows are seen: those from the first to before the last index. */
  readonly see = (first: number, last: number): void => {
    this.#seen = [first, last];
  };

  /** Connects again at once. */
  readonly tryNow = (): void => {
    if (!this.#stop || this.#stop.signal.aborted) return;
    this.#connection?.abort();
    void this.#follow(this.#stop.signal);
  };

  async #load(cursor: string | undefined): Promise<void> {
    const signal = this.#stop?.signal;
    try {
      const page = await this.#client.executions.list({ ...this.query, limit: pageSize, cursor }, { signal });
      this.#clock.synchronize(page.storeNow);
      const early = cursor === undefined ? this.#early.splice(0) : [];
      const state = withPage(this.#state, page, cursor === undefined);
      this.#set(early.reduce((latest, { upsert, gone, storeNow }) => withNews(latest, this.query, upsert, gone, storeNow), state));
    } catch (error) {
      if (!signal?.aborted) this.#update({ failure: failureOf(error, this.#clock.read()), isLoadingMore: false });
    }
  }

  /** Reads again what the stream does not tell. While there is no connection, nothing can be asked either. */
  async #refreshUntold(): Promise<void> {
    const isSilent = this.#isSilent && this.#state.link.isLive;
    if (isSilent && this.#state.looked === null && ++this.#looks % looksPerFirstPage === 0) await this.#readFirstPage();
    const followed = this.#followedCount();
    const now = this.#clock.read();
    await this.#refresh(this.#seenRows((listed, index) => index >= followed || isDoubtful(listed, now)));
  }

  /** How many rows, from the first one, the stream tells of. It knows neither another order nor all filters. */
  #followedCount(): number {
    const { order, q, node, error } = this.query;
    const knowsAll = order !== "oldest" && q === undefined && node === undefined && error === undefined;
    return knowsAll ? Math.max(0, pageSize - this.#state.arrived.length) : 0;
  }

  #seenRows(isWanted: (listed: ListRow, index: number) => boolean): readonly ListRow[] {
    const [first, end] = this.#seen;
    return this.#state.rows.slice(first, end).filter((listed, offset) => !listed.isGone && isWanted(listed, first + offset));
  }

  /** Takes the first page as what the stream would have told. */
  async #readFirstPage(): Promise<void> {
    try {
      const page = await this.#client.executions.list({ ...this.query, limit: pageSize }, { signal: this.#stop?.signal });
      if (this.#isSilent) this.#takeList({ type: "list", upsert: page.items, gone: [], storeNow: page.storeNow });
    } catch {
      // what is wrong with the connection is told by the stream
    }
  }

  /** Reads rows again. A search by text would look at very many executions for that. */
  async #refresh(wanted: readonly ListRow[]): Promise<void> {
    const signal = this.#stop?.signal;
    let rest = this.#state.looked === null ? wanted : [];
    for (let reads = 0; rest.length > 0 && reads < maxReads; reads++) {
      const { createdAt } = rest[0]!.row;
      const since = this.query.order === "oldest" ? { createdAfter: createdAt - 1 } : { createdBefore: createdAt + 1 };
      try {
        const { items, storeNow } = await this.#client.executions.list({ ...this.query, ...since, limit: pageSize }, { signal });
        this.#clock.synchronize(storeNow);
        this.#set(withNews(this.#state, this.query, items, [], storeNow));
        const last = items.at(-1)?.createdAt;
        const isBehind = ({ row }: ListRow): boolean =>
          last !== undefined && (this.query.order === "oldest" ? row.createdAt > last : row.createdAt < last);
        rest = items.length < pageSize ? [] : rest.filter(isBehind);
      } catch {
        // the stream shows that there is no connection
        return;
      }
    }
  }

  async #follow(stop: AbortSignal): Promise<void> {
    const connection = new AbortController();
    this.#connection = connection;
    const signal = AbortSignal.any([stop, connection.signal]);
    // what the stream does not know, the model looks at itself
    const { order: _, q: __, node: ___, error: ____, ...list } = this.query;
    try {
      for await (const frame of this.#client.stream({ list }, { signal })) {
        if (signal.aborted) return;
        this.#take(frame);
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#setLink(false, null);
      // a refusal: the first page was refused for the same reason, unless only news are
      if (!this.#state.failure) this.#update({ failure: failureOf(error, this.#clock.read()) });
    }
  }

  #take(frame: StreamFrame): void {
    this.#isSilent = frame.type === "link";
    if (frame.type === "link") this.#takeLink(frame.isLive, frame.againInMs);
    else if (frame.type === "problem") this.#update({ problem: frame.code });
    else if (frame.type === "list") this.#takeList(frame);
  }

  #takeList(frame: ListFrame): void {
    this.#lastNewsAt = this.#clock.read();
    this.#clock.synchronize(frame.storeNow);
    if (this.#state.isLoaded) this.#set(withNews(this.#state, this.query, frame.upsert, frame.gone, frame.storeNow));
    else this.#early.push(frame);
  }

  #takeLink(isLive: boolean, againInMs: number | undefined): void {
    if (isLive) this.#lastNewsAt = this.#clock.read();
    this.#setLink(isLive, againInMs === undefined ? null : this.#clock.read() + againInMs);
    if (isLive && !this.#state.isLoaded && this.#state.failure) void this.reload();
  }

  #setLink(isLive: boolean, againAt: number | null): void {
    this.#update({ link: { isLive, lastNewsAt: this.#lastNewsAt, againAt, tryNow: this.tryNow } });
  }

  #update(change: Partial<ListState>): void {
    this.#set({ ...this.#state, ...change });
  }

  #set(state: ListState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}
