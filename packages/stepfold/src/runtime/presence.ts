import { StepfoldError } from "../core/errors/stepfold-error.ts";
import type { WorkerBeat } from "../ports/store-workers.ts";
import type { RuntimeContext } from "./context/runtime-context.ts";
import { withTimeout } from "./context/with-timeout.ts";

/** A sign of life counts for this many intervals, so that one sign may be lost and the next one may be late. */
const intervalsAlive = 3;
const minIntervalMs = 100;
/** The longest interval: a sign of life counts for one day at most. */
const maxIntervalMs = (24 * 60 * 60 * 1000) / intervalsAlive;

/** The most node types of one process that a store keeps, and the most definitions that it cannot run. */
const maxTypes = 1_000;
const maxLacks = 100;
/** The most characters of the reason why it cannot run one. */
const maxReasonLength = 300;

/** Reports to the store, at an interval, that this process runs executions. */
export class Presence {
  readonly #context: Pick<RuntimeContext, "store" | "clock" | "environment" | "lease" | "taskQueues" | "lacking" | "onProblem">;
  /** Null: nothing is reported, because no interval was given or the store does not keep reports. */
  readonly #intervalMs: number | null;
  readonly #types: readonly string[];
  #cancel: () => void = () => undefined;
  #telling: Promise<void> = Promise.resolve();
  /** The number of executions that this process can run at once; null while it runs none. */
  #slots: number | null = null;
  /** The time of the first report of this process, by the store's clock; null until it is read. */
  #since: number | null = null;

  /** @throws StepfoldError `OPTION_INVALID` */
  constructor(context: RuntimeContext, intervalMs: number | undefined, types: readonly string[]) {
    if (intervalMs !== undefined && !(Number.isFinite(intervalMs) && intervalMs >= minIntervalMs && intervalMs <= maxIntervalMs))
      throw new StepfoldError("OPTION_INVALID", {
        option: "beatMs",
        reason: `must be a number of milliseconds, ${minIntervalMs} to ${maxIntervalMs}`,
      });
    this.#context = context;
    this.#intervalMs = context.store.beat && intervalMs !== undefined ? intervalMs : null;
    this.#types = types.slice(0, maxTypes);
  }

  open(slots: number): void {
    this.#slots = slots;
    this.#tellIn(0);
  }

  /** Reports to the store that this process runs no more executions; resolves when that is reported, or after `timeoutMs`. */
  async close(timeoutMs: number): Promise<void> {
    if (this.#slots === null || this.#intervalMs === null) return;
    this.#slots = null;
    this.#cancel();
    const told = this.#telling.then(() => this.#tell(0));
    await withTimeout(this.#context.environment, timeoutMs, told);
  }

  #tellIn(delayMs: number): void {
    const intervalMs = this.#intervalMs;
    if (intervalMs === null || this.#slots === null) return;
    const tell = (): void => {
      this.#telling = this.#tell(intervalMs * intervalsAlive).finally(() => this.#tellIn(intervalMs));
    };
    this.#cancel = this.#context.environment.after(delayMs, tell, { background: true });
  }

  /** What this process leaves to others. */
  #left(): Pick<WorkerBeat, "taskQueues" | "lacks"> {
    const { taskQueues, lacking } = this.#context;
    const lacks = lacking.all().slice(0, maxLacks);
    const short = lacks.map((lacked) => ({ ...lacked, message: lacked.message.slice(0, maxReasonLength) }));
    return { ...(taskQueues && { taskQueues }), ...(lacks.length > 0 && { lacks: short }) };
  }

  async #tell(aliveMs: number): Promise<void> {
    const { store, clock, lease, onProblem } = this.#context;
    const slots = this.#slots ?? 0;
    try {
      this.#since ??= await clock.now();
      await store.beat?.({ owner: lease.owner, since: this.#since, aliveMs, slots, types: this.#types, ...this.#left() });
    } catch (error) {
      // the next report comes after the interval; if the report of the end is lost, the last sign of life runs out
      onProblem(null, error);
    }
  }
}
