import type { Environment, ExecutionSummary, ListQuery } from "stepfold";
import type { ScopedRuntime } from "stepfold/runtime";

const pollMs = 1_000;
/** A list in which nothing has changed for a minute, or one of very many lists, is looked at this often. */
const slowPollMs = 5_000;
const quietMs = 60_000;
const many = 50;
/** After a hint the store is asked this soon, so that many hints cost one question; and after the last question not before this time. */
const hintMs = 100;
const hintedPollMs = 500;
/** The most lists that are looked at, and rows of each. */
const maxPolls = 200;
const pageSize = 100;
const maxSeen = 400;

/** What has changed in a list. */
interface ListChange {
  readonly upsert: readonly ExecutionSummary[];
  readonly gone: readonly string[];
}

/** A list that is looked at, and whose executions it has. */
export interface WatchedList {
  /** The tenant whose executions they are, with the query: lists with the same name are the same. */
  readonly name: string;
  readonly runtime: Pick<ScopedRuntime, "list" | "summaries">;
  readonly query: ListQuery;
}

/** Somebody who is told what changes in a list. */
export interface ListWatcher {
  change(change: ListChange): void;
  problem(code: string): void;
}

/** All lists that are looked at: the same query of many is asked once. */
export class ListPolls {
  readonly #environment: Environment;
  readonly #polls = new Map<string, ListPoll>();

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** Begins to watch: the first change has all rows of the first page. Returns a function that ends it; null if there are too many lists. */
  watch(list: WatchedList, watcher: ListWatcher): (() => void) | null {
    let poll = this.#polls.get(list.name);
    if (!poll) {
      if (this.#polls.size >= maxPolls) return null;
      poll = new ListPoll(list, this.#environment, () => this.#polls.size > many);
      this.#polls.set(list.name, poll);
    }
    const own = poll;
    own.join(watcher);
    return () => {
      own.leave(watcher);
      if (own.isEmpty && this.#polls.get(list.name) === own) this.#polls.delete(list.name);
    };
  }

  /** Something has happened to some execution. */
  hint(): void {
    for (const poll of this.#polls.values()) poll.hint();
  }

  close(): void {
    for (const poll of this.#polls.values()) poll.close();
    this.#polls.clear();
  }
}

class ListPoll {
  readonly #list: WatchedList;
  readonly #environment: Environment;
  readonly #isCrowded: () => boolean;
  readonly #watchers = new Set<ListWatcher>();
  /** The rows that were told, and what they were like. */
  readonly #seen = new Map<string, { readonly summary: ExecutionSummary; readonly mark: string }>();
  #changedAtMs: number;
  #polledAtMs = Number.NEGATIVE_INFINITY;
  /** When the next poll begins. */
  #dueAtMs = Number.POSITIVE_INFINITY;
  #stop: (() => void) | null = null;
  #isPolling = false;
  #isHinted = false;
  #hasProblem = false;
  /** Those who were told nothing yet: they learn that the list is empty. */
  readonly #newcomers = new Set<ListWatcher>();

  constructor(list: WatchedList, environment: Environment, isCrowded: () => boolean) {
    this.#list = list;
    this.#environment = environment;
    this.#isCrowded = isCrowded;
    this.#changedAtMs = environment.monotonicMs();
  }

  get isEmpty(): boolean {
    return this.#watchers.size === 0;
  }

  join(watcher: ListWatcher): void {
    this.#watchers.add(watcher);
    this.#changedAtMs = this.#environment.monotonicMs();
    if (this.#seen.size > 0) watcher.change({ upsert: [...this.#seen.values()].map(({ summary }) => summary), gone: [] });
    else this.#newcomers.add(watcher);
    this.#schedule(0);
  }

  leave(watcher: ListWatcher): void {
    this.#watchers.delete(watcher);
    this.#newcomers.delete(watcher);
    if (this.isEmpty) this.close();
  }

  hint(): void {
    this.#isHinted = true;
    if (!this.#isPolling) this.#scheduleHinted();
  }

  close(): void {
    this.#watchers.clear();
    this.#stop?.();
  }

  /** A poll that is due sooner stays: hints that come all the time would put it off for ever. */
  #scheduleHinted(): void {
    const nowMs = this.#environment.monotonicMs();
    const delayMs = Math.max(hintMs, this.#polledAtMs + hintedPollMs - nowMs);
    if (nowMs + delayMs < this.#dueAtMs) this.#schedule(delayMs);
  }

  #schedule(delayMs: number): void {
    this.#stop?.();
    this.#dueAtMs = this.#environment.monotonicMs() + delayMs;
    this.#stop = this.#environment.after(delayMs, () => void this.#poll(), { background: true, poll: true });
  }

  async #poll(): Promise<void> {
    if (this.#isPolling || this.isEmpty) return;
    this.#isPolling = true;
    this.#isHinted = false;
    this.#dueAtMs = Number.POSITIVE_INFINITY;
    try {
      await this.#compare();
      this.#hasProblem = false;
    } catch (error) {
      this.#hasProblem = true;
      const code = (error as { code?: unknown }).code;
      for (const watcher of this.#watchers) watcher.problem(typeof code === "string" ? code : "INTERNAL");
    } finally {
      this.#isPolling = false;
      this.#polledAtMs = this.#environment.monotonicMs();
    }
    if (this.isEmpty) return;
    const isQuiet = this.#isCrowded() || this.#polledAtMs - this.#changedAtMs > quietMs;
    this.#schedule(isQuiet ? slowPollMs : pollMs);
    if (this.#isHinted) this.#scheduleHinted();
  }

  async #compare(): Promise<void> {
    const { runtime, query } = this.#list;
    const { items } = await runtime.list({ ...query, limit: pageSize });
    const onPage = new Set(items.map(({ workflowId }) => workflowId));
    // rows that were told, but are not on the page any more: they may match no longer, or be gone
    const off = [...this.#seen.keys()].filter((id) => !onPage.has(id)).slice(-2 * pageSize);
    const others = off.length > 0 ? await runtime.summaries(off) : [];
    const found = new Set(others.map(({ workflowId }) => workflowId));
    const gone = off.filter((id) => !found.has(id));
    const upsert = [...items, ...others].filter((summary) => this.#seen.get(summary.workflowId)?.mark !== markOf(summary));
    for (const summary of [...items, ...others].reverse()) this.#see(summary);
    for (const id of gone) this.#seen.delete(id);
    // after a problem even no change is told, because it shows that the store answers again
    const isNews = upsert.length + gone.length > 0 || this.#hasProblem;
    if (isNews) this.#changedAtMs = this.#environment.monotonicMs();
    for (const watcher of isNews ? this.#watchers : this.#newcomers) watcher.change({ upsert, gone });
    this.#newcomers.clear();
  }

  #see(summary: ExecutionSummary): void {
    this.#seen.delete(summary.workflowId);
    this.#seen.set(summary.workflowId, { summary, mark: markOf(summary) });
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > maxSeen) this.#seen.delete(oldest!);
  }
}

/** Two summaries of an execution with the same mark look the same in a list. */
function markOf({ incarnation, version, status, lease }: ExecutionSummary): string {
  return `${incarnation} ${version} ${status} ${lease?.owner ?? ""}`;
}
