import { StepfoldError } from "../core/errors/stepfold-error.ts";
import type { RuntimeContext } from "./context/runtime-context.ts";
import { withTimeout } from "./context/with-timeout.ts";

/** A sign of life counts for so many intervals: one may be lost, and one may come late. */
const intervalsAlive = 3;
const minIntervalMs = 100;
/** No sign of life counts longer than a day. */
const maxIntervalMs = (24 * 60 * 60 * 1000) / intervalsAlive;

/** A store keeps no more of one process. */
const maxTypes = 1_000;

/** Tells the store now and then that this process runs executions. */
export class Presence {
  readonly #context: Pick<RuntimeContext, "store" | "clock" | "environment" | "lease" | "onProblem">;
  readonly #intervalMs: number | null;
  readonly #types: readonly string[];
  #cancel: () => void = () => undefined;
  #telling: Promise<void> = Promise.resolve();
  #slots: number | null = null;
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

  /** Tells the store that the process has ended; resolves when that is told, or after `timeoutMs`. */
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

  async #tell(aliveMs: number): Promise<void> {
    const { store, clock, lease, onProblem } = this.#context;
    const slots = this.#slots ?? 0;
    try {
      this.#since ??= await clock.now();
      await store.beat?.({ owner: lease.owner, since: this.#since, aliveMs, slots, types: this.#types });
    } catch (error) {
      // it is told again the next time; an end that is not told is seen when the last sign has run out
      onProblem(null, error);
    }
  }
}
