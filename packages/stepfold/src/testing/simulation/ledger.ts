import type { Event } from "../../core/snapshot/event.ts";
import { isTerminal, type SnapshotHead, type Status } from "../../core/snapshot/snapshot.ts";
import { hash32 } from "../../core/values/hash/seeded.ts";
import { scheduleWorkflowId } from "../../core/values/ids/reserved-ids.ts";
import type { Commit } from "../../ports/snapshot-store.ts";

/** A broken rule: something happened that must never happen. */
export interface Violation {
  /** The name of the rule; see docs/testing/simulation.md. */
  readonly invariant: string;
  readonly message: string;
  readonly workflowId?: string;
  /** Milliseconds since the schedule began. */
  readonly atMs: number;
}

/** The holder of an execution, as the store has acknowledged it. */
interface Holder {
  readonly owner: string;
  /** The process that asked for the claim; null if it is not known. */
  readonly machine: string | null;
  /** The number of its claim: a claim that comes later has a higher one. */
  readonly fence: number;
  /** End of the lease, in milliseconds since the schedule began. */
  untilMs: number;
  /** True if the holder has renewed its claim and committed nothing since. */
  hasBegun: boolean;
  /** True: the claim does not count for the concurrency key of the execution, and allows no steps. */
  readonly withoutPermit: boolean;
}

/** Everything that the store has acknowledged of one execution. */
export interface LedgerEntry {
  readonly workflowId: string;
  /** Tells apart executions that have used the same id one after the other. */
  readonly incarnation: string;
  /** The event at index v made version v. The commit at index v of `commitIds` contained it. */
  readonly events: Event[];
  readonly commitIds: string[];
  /** When it was committed, in milliseconds since the schedule began. */
  readonly committedMs: number[];
  head: SnapshotHead;
  version: number;
  status: Status;
  wakeAt: number | null;
  committedAtMs: number;
  /** When it was started, or last restarted, in milliseconds since the schedule began. */
  openedAtMs: number;
  /** When its end was decided; null if it is not. */
  decidedAtMs: number | null;
  holder: Holder | null;
  /** The highest fence that was given out. */
  fence: number;
  /** How many holders in a row have lost their claim after they had begun, without a commit. A brown-out counts once at most. */
  crashes: number;
  /**
   * `crashes` before the first commit of the holder. A renewal that was sent
   * before this commit stores the count of the claim, whenever it arrives.
   */
  crashesBeforeCommit: number;
  /** The latest brown-out that has cost the execution a holder. */
  brownOut: BrownOut | null;
}

/** What failovers have lost of one execution. */
export interface LostByFailover {
  /** True if they have lost the creation of an execution with this id. */
  isStart: boolean;
  readonly events: Event[];
}

/** The longest time before a failover whose acknowledged writes are lost. */
export const maxTailMs = 1_000;

/** A time in which no caller of the store got an answer in time, although all processes were well. */
export interface BrownOut {
  readonly fromMs: number;
  readonly untilMs: number;
}

/**
 * Records everything that the store has acknowledged. It stands between the store and the faults of the simulation, so it also records
 * an acknowledgement that a fault loses on its way.
 */
export class Ledger {
  entries: Map<string, LedgerEntry> = new Map();
  readonly violations: Violation[] = [];
  /** The number of claims of executions whose holder was lost, or that a poll found although a process was told of them (`graceMs`). */
  rescues = 0;
  commits = 0;
  /** The latest brown-out. */
  brownOut: BrownOut | null = null;
  /** A hash of all commits with their times. A schedule that is run again gives the same hash. */
  hash = 0;
  /** The acknowledged events that failovers have lost, by execution. */
  readonly lostByFailover: Map<string, LostByFailover> = new Map();
  failovers = 0;
  /** When the latest failover was, in milliseconds since the schedule began. */
  failedOverAtMs: number = Number.NEGATIVE_INFINITY;
  /** True once somebody has asked to delete the events of earlier runs. */
  isTrimmed = false;
  /** Every fence that was given out, with its execution. A failover does not remove any. */
  readonly fences: Set<string> = new Set();
  /** How late a timer or a deadline may be, in milliseconds; a later one breaks I7. Limited only in the mode `faultFree`. */
  maxLateMs: number = Number.POSITIVE_INFINITY;
  /** True if some workers leave executions to others: the first one that was told of an execution need not be the one that drives it. */
  isMixed = false;
  /** True if the past of the latest second is kept, so that a failover can lose it. */
  keepsPast = false;
  #past: { readonly atMs: number; readonly entries: Map<string, LedgerEntry> }[] = [];
  /** True if there is a queue, which also tells workers of timers. */
  readonly hasQueue: boolean;
  /** After this number of lost holders in a row an execution is parked. */
  readonly maxCrashes: number;
  readonly #nowMs: () => number;

  constructor(nowMs: () => number, hasQueue: boolean, maxCrashes: number) {
    this.#nowMs = nowMs;
    this.hasQueue = hasQueue;
    this.maxCrashes = maxCrashes;
  }

  /** Milliseconds since the schedule began. */
  get nowMs(): number {
    return this.#nowMs();
  }

  violate(invariant: string, message: string, workflowId?: string): void {
    this.violations.push({ invariant, message, atMs: this.nowMs, ...(workflowId !== undefined && { workflowId }) });
  }

  /** Adds a new execution. */
  begin({ workflowId, incarnation, head, events, commitId, wakeAt }: Commit): LedgerEntry {
    const entry: LedgerEntry = {
      workflowId,
      incarnation,
      events: [],
      commitIds: [],
      committedMs: [],
      head,
      version: -1,
      status: head.status,
      wakeAt,
      committedAtMs: this.nowMs,
      openedAtMs: this.nowMs,
      decidedAtMs: null,
      holder: null,
      fence: 0,
      crashes: 0,
      crashesBeforeCommit: 0,
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
      entry.committedMs.push(this.nowMs);
    }
    entry.head = head;
    entry.version = head.version;
    entry.status = head.status;
    entry.wakeAt = wakeAt;
    entry.committedAtMs = this.nowMs;
    if (events.some(({ type }) => type === "restarted")) {
      entry.openedAtMs = this.nowMs;
      entry.decidedAtMs = null;
    }
    if (isDecided(head)) entry.decidedAtMs ??= this.nowMs;
    this.commits++;
    this.hash = hash32(`${this.hash} ${this.nowMs} ${entry.workflowId} ${JSON.stringify(events)}`);
  }

  /** Keeps a copy of the entries for as long as a failover may lose them. */
  remember(): void {
    if (!this.keepsPast) return;
    this.#past.push({ atMs: this.nowMs, entries: copyOf(this.entries) });
    while (this.#past.length > 1 && this.#past[1]!.atMs <= this.nowMs - maxTailMs) this.#past.shift();
  }

  /** Goes back to a moment: everything that was acknowledged since then is lost. */
  rollBack(asOfMs: number): void {
    this.#past = this.#past.filter(({ atMs }) => atMs <= asOfMs);
    const before = copyOf(this.#past.at(-1)?.entries ?? new Map());
    for (const { workflowId, events, incarnation } of this.entries.values()) {
      const kept = before.get(workflowId);
      const isKept = kept?.incarnation === incarnation;
      const lost = this.lostByFailover.get(workflowId) ?? { isStart: false, events: [] };
      lost.isStart ||= !isKept;
      lost.events.push(...events.slice(isKept ? kept.events.length : 0));
      this.lostByFailover.set(workflowId, lost);
    }
    this.entries = before;
    this.failovers++;
    this.failedOverAtMs = this.nowMs;
  }

  /** True if nothing moves any more: all executions have ended, wait for an answer, or are parked. */
  get isQuiet(): boolean {
    for (const { status, wakeAt, holder } of this.entries.values()) if (!isTerminal(status) && (wakeAt !== null || holder)) return false;
    return true;
  }
}

/** True if the end of an execution is decided: it has ended, or only steps at its end and messages are left. */
function isDecided({ status, ending, closing, activePaths }: SnapshotHead): boolean {
  return isTerminal(status) || ending !== undefined || closing !== undefined || activePaths.length === 0;
}

function copyOf(entries: ReadonlyMap<string, LedgerEntry>): Map<string, LedgerEntry> {
  const copies = [...entries.values()].map((entry) => ({
    ...entry,
    events: [...entry.events],
    commitIds: [...entry.commitIds],
    committedMs: [...entry.committedMs],
    holder: entry.holder && { ...entry.holder },
  }));
  return new Map(copies.map((copy) => [copy.workflowId, copy]));
}

/** True for an execution of Stepfold's own schedules: its node and its signals do not belong to the scenario. */
export function isOwnSchedule({ events: [first] }: Pick<LedgerEntry, "events">): boolean {
  return first?.type === "started" && first.definition.id === scheduleWorkflowId;
}
