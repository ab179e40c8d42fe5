import type { EpochMs } from "../../../core/values/json.ts";
import type { SyncDatabase } from "../sqlite-dialect/sync-session.ts";
import type { Sweeper } from "./durable-object-client.ts";

/** What is due, but could not be taken, waits for an execution that holds its permit: the end of that sets the alarm. This is the net below it. */
const blockedMs = 30_000;

/** The time of what is due first after `?1`; by index, as both parts are. */
const earliest = ["NULL", "NOT NULL"]
  .map((is) => `SELECT min(due_at) AS at FROM executions WHERE due_at IS NOT NULL AND permit_key IS ${is} AND due_at > ?1`)
  .join(" UNION ALL ");
const earliestText = `SELECT min(at) AS at FROM (${earliest})`;

/** Sets the alarm of an object to the time at which the first of its executions is due. */
export class ObjectAlarm {
  readonly #db: Pick<SyncDatabase, "all">;
  readonly #now: () => EpochMs;
  readonly #set: (at: EpochMs) => void;
  /** The alarm as it is known to be set; null: nobody knows, because the object was just opened, or a write was undone. */
  #setTo: EpochMs | null = null;

  constructor(db: Pick<SyncDatabase, "all">, now: () => EpochMs, set: (at: EpochMs) => void) {
    this.#db = db;
    this.#now = now;
    this.#set = set;
  }

  /** After a write, in its transaction. An alarm that is too early is left as it is: it costs less than to set it each time. */
  written(): void {
    const at = this.#firstDue(Number.MIN_SAFE_INTEGER);
    if (at === null) return;
    const isSooner = this.#setTo === null || at < this.#setTo || this.#setTo <= this.#now();
    if (isSooner) this.#arm(at);
  }

  /** After a write that was undone, and its alarm with it: the next one sets it again. */
  undone(): void {
    this.#setTo = null;
  }

  /** Runs what is due, and sets the alarm for what comes next, also if that failed. */
  async rung<Options>(runtime: Sweeper<Options>, options?: Options): Promise<void> {
    let isMore = false;
    try {
      const report = await runtime.sweep(options);
      isMore = report.isMore || report.left.length > 0;
    } finally {
      const now = this.#now();
      const [first, next] = [this.#firstDue(Number.MIN_SAFE_INTEGER), this.#firstDue(now)];
      const blocked = first !== null && first <= now ? now + (isMore ? 0 : blockedMs) : Number.POSITIVE_INFINITY;
      const at = Math.min(next ?? Number.POSITIVE_INFINITY, blocked);
      if (Number.isFinite(at)) this.#arm(at);
    }
  }

  /** What is due at once lies below zero: it is due now. */
  #firstDue(after: EpochMs): EpochMs | null {
    const at = this.#db.all(earliestText, after, [])[0]!.at;
    return at === null ? null : Number(at) < 0 ? this.#now() : Number(at);
  }

  #arm(at: EpochMs): void {
    this.#set(at);
    this.#setTo = at;
  }
}
