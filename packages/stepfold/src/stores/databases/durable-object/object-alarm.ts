import type { EpochMs } from "../../../core/values/json.ts";
import type { SyncDatabase } from "../sqlite-dialect/sync-session.ts";
import type { Sweeper } from "./durable-object-client.ts";

/**
 * Milliseconds until the next try for executions that are due but could not be run. Usually a running execution holds their permit, and
 * each write of it sets the alarm to an earlier time; this alarm is only for safety.
 */
const blockedMs = 30_000;

/**
 * Finds the first due time after `?1`, or the first time after `?2` from which an execution needs no permit. There are three parts, because
 * they have different indexes.
 */
const earliest = [
  ...["NULL", "NOT NULL"].map(
    (is) => `SELECT min(due_at) AS at FROM executions WHERE due_at IS NOT NULL AND permit_key IS ${is} AND due_at > ?1`,
  ),
  "SELECT min(exempt_at) FROM executions WHERE exempt_at IS NOT NULL AND exempt_at > ?2",
].join(" UNION ALL ");
const earliestText = `SELECT min(at) AS at FROM (${earliest})`;

/** Sets the alarm of an object to the time at which the first of its executions is due. */
export class ObjectAlarm {
  readonly #db: Pick<SyncDatabase, "all">;
  readonly #now: () => EpochMs;
  readonly #set: (at: EpochMs) => void;
  /** The time to which the alarm is known to be set; null: unknown, because the object was just opened or a write was undone. */
  #setTo: EpochMs | null = null;

  constructor(db: Pick<SyncDatabase, "all">, now: () => EpochMs, set: (at: EpochMs) => void) {
    this.#db = db;
    this.#now = now;
    this.#set = set;
  }

  /** Is called after a write, in its transaction. An alarm that is too early stays, which costs less than setting it with each write. */
  afterWrite(): void {
    const at = this.#firstDue(Number.MIN_SAFE_INTEGER);
    if (at === null) return;
    const isSooner = this.#setTo === null || at < this.#setTo || this.#setTo <= this.#now();
    if (isSooner) this.#arm(at);
  }

  /** Is called after a write was undone, and its alarm with it: the next write sets the alarm again. */
  afterRollback(): void {
    this.#setTo = null;
  }

  /** Runs due executions, and then sets the alarm for the next due time, if there is one, even if the run has failed. */
  async onAlarm<Options>(runtime: Sweeper<Options>, options?: Options): Promise<void> {
    let isMore = false;
    try {
      const report = await runtime.sweep(options);
      isMore = report.isMore || report.left.length > 0;
    } finally {
      const now = this.#now();
      const [first, next] = [this.#firstDue(Number.MIN_SAFE_INTEGER), this.#firstDue(now)];
      // an execution that is still due could not be run: the alarm tries again at once if the sweep has left work, else after `blockedMs`
      const blocked = first !== null && first <= now ? now + (isMore ? 0 : blockedMs) : Number.POSITIVE_INFINITY;
      const at = Math.min(next ?? Number.POSITIVE_INFINITY, blocked);
      if (Number.isFinite(at)) this.#arm(at);
    }
  }

  /**
   * Returns the first due time after `after`, or a time after now from which an execution needs no permit, if that comes first; null: there is
   * none. A negative value in the table means due at once: then now.
   */
  #firstDue(after: EpochMs): EpochMs | null {
    const at = this.#db.all(earliestText, after, [this.#now()])[0]!.at;
    return at === null ? null : Number(at) < 0 ? this.#now() : Number(at);
  }

  #arm(at: EpochMs): void {
    this.#set(at);
    this.#setTo = at;
  }
}
