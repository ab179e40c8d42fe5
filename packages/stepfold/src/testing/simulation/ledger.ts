import type { Event } from "../../core/snapshot/event.ts";
import { isTerminal, type SnapshotHead, type Status } from "../../core/snapshot/snapshot.ts";
import { hash32 } from "../../core/values/seeded.ts";
import type { Commit } from "../../ports/snapshot-store.ts";
import { scheduleWorkflowId } from "../../runtime/context/latest-schedule.ts";

/** Something that must never happen, and did. */
export interface Violation {
  /** Which rule: see docs/testing/simulation.md. */
  readonly invariant: string;
  readonly message: string;
  readonly workflowId?: string;
  /** Milliseconds since the schedule began. */
  readonly atMs: number;
}

/** The process that holds an execution, as the store has acknowledged it. */
interface Holder {
  readonly owner: string;
  /** The process that asked for the claim; null if it is not known. */
  readonly machine: string | null;
  /** The number of its claim: a claim that comes later has a higher one. */
  readonly fence: number;
  /** End of the lease, in milliseconds since the schedule began. */
  untilMs: number;
  /** It has renewed its claim, and committed nothing since. */
  hasBegun: boolean;
}

/** What the store has acknowledged of one execution. */
export interface LedgerEntry {
  readonly workflowId: string;
  /** Tells executions apart that had the same id, one after the other. */
  readonly incarnation: string;
  readonly definitionHash: string;
  /** The event at index v made version v; the commit at index v of `commitIds` brought it. */
  readonly events: Event[];
  readonly commitIds: string[];
  head: SnapshotHead;
  version: number;
  status: Status;
  wakeAt: number | null;
  committedAtMs: number;
  holder: Holder | null;
  /** The highest fence that was given. */
  fence: number;
  /** How many holders in a row have lost their claim after they had begun, without a commit. */
  losses: number;
  /** The same before the first commit of its holder: a renewal that was sent before that passes on what the claim said, whenever it arrives. */
  lossesBefore: number;
  /** The latest brown-out that has cost it a holder. */
  brownOut: BrownOut | null;
}

/** What failovers have lost of one execution. */
export interface Lost {
  isStart: boolean;
  readonly events: Event[];
}

/** The most that a failover loses. */
export const maxTailMs = 1_000;

/** A time in which no caller of the store got an answer while it waited, although all processes were well. */
export interface BrownOut {
  readonly fromMs: number;
  readonly untilMs: number;
}

/**
 * Everything that the store has acknowledged. It is recorded between the store and the faults that the simulation makes, so an
 * acknowledgement that a fault loses on its way is recorded all the same.
 */
export class Ledger {
  entries: Map<string, LedgerEntry> = new Map();
  readonly violations: Violation[] = [];
  /** Claims of executions whose holder was lost, and of those that were due at once and of which no process had been told. */
  rescues = 0;
  commits = 0;
  /** The latest one. */
  brownOut: BrownOut | null = null;
  /** A hash of all commits with their times: a schedule that is run again gives the same one. */
  hash = 0;
  /** What failovers have lost of what was acknowledged. */
  readonly lost: Map<string, Lost> = new Map();
  failovers = 0;
  /** Every fence that was given out, with its execution; no failover takes them back. */
  readonly fences: Set<string> = new Set();
  /** A timer or retry that fires later than so long after its time is late: nothing fails, and no step keeps others waiting. */
  maxLateMs: number = Number.POSITIVE_INFINITY;
  /** Whether the latest second is kept, so that it can be lost. */
  keepsPast = false;
  #past: { readonly atMs: number; readonly entries: Map<string, LedgerEntry> }[] = [];
  /** Whether there is a queue, which also tells workers of timers. */
  readonly hasQueue: boolean;
  /** After so many lost holders in a row an execution is parked. */
  readonly maxLosses: number;
  readonly #nowMs: () => number;

  constructor(nowMs: () => number, hasQueue: boolean, maxLosses: number) {
    this.#nowMs = nowMs;
    this.hasQueue = hasQueue;
    this.maxLosses = maxLosses;
  }

  /** Milliseconds since the schedule began. */
  get nowMs(): number {
    return this.#nowMs();
  }

  violate(invariant: string, message: string, workflowId?: string): void {
    this.violations.push({ invariant, message, atMs: this.nowMs, ...(workflowId !== undefined && { workflowId }) });
  }

  /** A new execution. */
  begin({ workflowId, incarnation, head, events, commitId, wakeAt }: Commit): LedgerEntry {
    const entry: LedgerEntry = {
      workflowId,
      incarnation,
      definitionHash: head.definition.hash,
      events: [],
      commitIds: [],
      head,
      version: -1,
      status: head.status,
      wakeAt,
      committedAtMs: this.nowMs,
      holder: null,
      fence: 0,
      losses: 0,
      lossesBefore: 0,
      brownOut: null,
    };
    this.entries.set(workflowId, entry);
    this.append(entry, { head, events, commitId, wakeAt });
    return entry;
  }

  append(entry: LedgerEntry, { head, events, commitId, wakeAt }: Pick<Commit, "head" | "events" | "commitId" | "wakeAt">): void {
    for (const event of events) {
      entry.events.push(event);
      entry.commitIds.push(commitId);
    }
    entry.head = head;
    entry.version = head.version;
    entry.status = head.status;
    entry.wakeAt = wakeAt;
    entry.committedAtMs = this.nowMs;
    this.commits++;
    this.hash = hash32(`${this.hash} ${this.nowMs} ${entry.workflowId} ${JSON.stringify(events)}`);
  }

  /** Keeps what is acknowledged now, as long as it may be lost. */
  remember(): void {
    if (!this.keepsPast) return;
    this.#past.push({ atMs: this.nowMs, entries: copyOf(this.entries) });
    while (this.#past.length > 1 && this.#past[1]!.atMs <= this.nowMs - maxTailMs) this.#past.shift();
  }

  /** What was acknowledged since a moment is lost. */
  rollBack(asOfMs: number): void {
    this.#past = this.#past.filter(({ atMs }) => atMs <= asOfMs);
    const before = copyOf(this.#past.at(-1)?.entries ?? new Map());
    for (const { workflowId, events, incarnation } of this.entries.values()) {
      const kept = before.get(workflowId);
      const isKept = kept?.incarnation === incarnation;
      const lost = this.lost.get(workflowId) ?? { isStart: false, events: [] };
      lost.isStart ||= !isKept;
      lost.events.push(...events.slice(isKept ? kept.events.length : 0));
      this.lost.set(workflowId, lost);
    }
    this.entries = before;
    this.failovers++;
  }

  /** Whether nothing moves any more: all executions have ended, or wait for an answer. */
  get isQuiet(): boolean {
    for (const { status, wakeAt, holder } of this.entries.values()) if (!isTerminal(status) && (wakeAt !== null || holder)) return false;
    return true;
  }
}

function copyOf(entries: ReadonlyMap<string, LedgerEntry>): Map<string, LedgerEntry> {
  const copies = [...entries.values()].map((entry) => ({
    ...entry,
    events: [...entry.events],
    commitIds: [...entry.commitIds],
    holder: entry.holder && { ...entry.holder },
  }));
  return new Map(copies.map((copy) => [copy.workflowId, copy]));
}

/** Whether an execution is a schedule of the library: its node and its signals are not those of the scenario. */
export function isOwnSchedule({ events: [first] }: Pick<LedgerEntry, "events">): boolean {
  return first?.type === "started" && first.definition.id === scheduleWorkflowId;
}
