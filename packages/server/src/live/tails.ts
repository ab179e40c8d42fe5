import type { ExecutionSummary } from "stepfold";
import type { Runtime } from "stepfold/runtime";
import type { KnownWorkers } from "./known-workers.ts";
import type { LiveMessage } from "./live-events.ts";
import { Tail, type TailSite } from "./tail.ts";

/** The store is asked this often for the versions of all executions that are looked at; with many of them, less often. */
const pollMs = 250;
const pollManyMs = 1_000;
const many = 200;
/** A tail without watchers stays for this time, because those who lost their connections come back. */
const idleMs = 10_000;
/** An execution of which the process that runs it has told something within this time is not read at the first sign of news. */
const reportedMs = 2_000;

interface Held {
  readonly tail: Promise<Tail | null>;
  /** The tail, once it is open. */
  opened: Tail | null;
  idleSinceMs: number;
  reportedAtMs: number;
  /** The version of the store at the last poll. */
  seenVersion: number;
  /** The version of the tail after the last poll. */
  toldVersion: number;
}

/** Those who are asked about the executions that are looked at. */
interface TailSources {
  readonly runtime: Pick<Runtime, "summaries">;
  readonly workers: KnownWorkers;
}

/** All executions that are looked at. */
export class Tails {
  readonly #site: TailSite;
  readonly #sources: TailSources;
  readonly #held = new Map<string, Held>();
  #stopPoll: (() => void) | null = null;
  #isClosed = false;

  constructor(site: TailSite, sources: TailSources) {
    this.#site = site;
    this.#sources = sources;
  }

  /** Returns the tail of an execution; null if the execution does not exist, or its definition is gone. */
  open(workflowId: string): Promise<Tail | null> {
    const held = this.#held.get(workflowId);
    if (held && !held.opened?.isEnded) return held.tail;
    const made: Held = {
      ...{ tail: this.#open(workflowId), opened: null, seenVersion: -1, toldVersion: -1 },
      ...{ idleSinceMs: this.#site.environment.monotonicMs(), reportedAtMs: Number.NEGATIVE_INFINITY },
    };
    this.#held.set(workflowId, made);
    const forget = (): void => {
      if (this.#held.get(workflowId) === made) this.#held.delete(workflowId);
    };
    made.tail.then((tail) => {
      if (!tail) return forget();
      made.opened = tail;
      // what has happened since it was loaded
      tail.pull();
    }, forget);
    this.#schedule();
    return made.tail;
  }

  /** Takes a message of the process that runs executions. */
  take(message: LiveMessage): void {
    const held = this.#held.get(message.workflowId);
    if (!held?.opened) return;
    held.reportedAtMs = this.#site.environment.monotonicMs();
    const { workflowId } = message;
    if (message.type === "event") held.opened.take(message.event);
    else held.opened.report({ ...message, type: "progress", execution: workflowId });
  }

  close(): void {
    this.#isClosed = true;
    this.#stopPoll?.();
    this.#held.clear();
  }

  /** Opens a tail that knows from its first word on who holds the execution, so that no page says at first that nobody does. */
  async #open(workflowId: string): Promise<Tail | null> {
    const [tail, [summary]] = await Promise.all([Tail.open(this.#site, workflowId), this.#sources.runtime.summaries([workflowId])]);
    if (tail && summary) await this.#tellHolder(tail, summary);
    return tail;
  }

  /** Tells a tail who holds the execution, or that nobody can. */
  async #tellHolder(tail: Tail, { lease }: ExecutionSummary): Promise<void> {
    tail.heldBy(lease);
    tail.leftBy(await this.#sources.workers.whyNone(lease, this.#site.storeNow(), () => tail.snapshot));
  }

  #schedule(): void {
    if (this.#isClosed || this.#held.size === 0) return;
    const delayMs = this.#held.size > many ? pollManyMs : pollMs;
    this.#stopPoll ??= this.#site.environment.after(
      delayMs,
      () =>
        void this.#poll().finally(() => {
          this.#stopPoll = null;
          this.#schedule();
        }),
      { background: true, poll: true },
    );
  }

  async #poll(): Promise<void> {
    this.#dropIdle();
    const ids = [...this.#held.keys()];
    for (let at = 0; at < ids.length; at += many) await this.#pollSome(ids.slice(at, at + many));
  }

  async #pollSome(ids: readonly string[]): Promise<void> {
    try {
      const found = new Map((await this.#sources.runtime.summaries(ids)).map((summary) => [summary.workflowId, summary]));
      await Promise.all(ids.map((id) => this.#compare(id, found.get(id))));
    } catch (error) {
      for (const id of ids) this.#held.get(id)?.opened?.problem(error);
    }
  }

  async #compare(id: string, found: ExecutionSummary | undefined): Promise<void> {
    const held = this.#held.get(id);
    const tail = held?.opened;
    if (!held || !tail) return;
    // what was told before the last poll and is not there any more was lost: the store has fallen back to an older state
    if (found?.incarnation !== tail.incarnation || found.version < held.toldVersion) {
      this.#held.delete(id);
      tail.end(found ? "replaced" : "gone");
      return;
    }
    // if it was told of lately, the news are probably on their way: only what is still missing at the next look is read
    const isReported = this.#site.environment.monotonicMs() - held.reportedAtMs < reportedMs;
    const missing = isReported ? held.seenVersion : found.version;
    held.seenVersion = found.version;
    held.toldVersion = tail.version;
    if (missing > tail.version) tail.pull();
    else tail.recover();
    await this.#tellHolder(tail, found);
  }

  #dropIdle(): void {
    const now = this.#site.environment.monotonicMs();
    for (const [id, held] of this.#held) {
      if (!held.opened || held.opened.watchers.size > 0) held.idleSinceMs = now;
      else if (now - held.idleSinceMs > idleMs) this.#held.delete(id);
    }
  }
}
