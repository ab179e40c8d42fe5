import type { Event } from "../../core/snapshot/event.ts";
import { isTerminal, type SnapshotHead, type Status } from "../../core/snapshot/snapshot.ts";
import { hash32 } from "../../core/values/seeded.ts";
import type { Commit } from "../../ports/snapshot-store.ts";

/** Something that must never happen, and did. */
export interface Violation {
  /** Which rule: see docs/testing/simulation.md. */
  readonly invariant: string;
  readonly message: string;
  readonly workflowId?: string;
  /** Milliseconds since the schedule began. */
  readonly atMs: number;
}

/** Who drives an execution, as the store has acknowledged it. */
interface Holder {
  readonly owner: string;
  readonly fence: number;
  /** End of the lease, in milliseconds since the schedule began. */
  untilMs: number;
}

/** An execution, by what was acknowledged. */
export interface LedgerEntry {
  readonly workflowId: string;
  readonly incarnation: string;
  readonly definitionHash: string;
  /** Index = version, as with `commitIds`. */
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
  /** Holders in a row that have lost it. */
  losses: number;
}

/** Everything that the store has acknowledged, recorded below all faults. */
export class Ledger {
  readonly entries: Map<string, LedgerEntry> = new Map();
  readonly violations: Violation[] = [];
  /** Rescues: claims of executions whose holder was lost, or that were due at once although no process was told. */
  rescues = 0;
  commits = 0;
  /** A hash of all commits with their times: two schedules with the same hash are the same. */
  hash = 0;
  /** Whether a queue also brings timers. */
  readonly hasQueue: boolean;
  /** After so many lost holders in a row an execution is parked. */
  readonly mostLosses: number;
  readonly #nowMs: () => number;

  constructor(nowMs: () => number, hasQueue: boolean, mostLosses: number) {
    this.#nowMs = nowMs;
    this.hasQueue = hasQueue;
    this.mostLosses = mostLosses;
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

  /** Whether nothing moves any more: all executions have ended, or wait for an answer. */
  get isQuiet(): boolean {
    for (const { status, wakeAt, holder } of this.entries.values()) if (!isTerminal(status) && (wakeAt !== null || holder)) return false;
    return true;
  }
}
