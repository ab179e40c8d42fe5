import { earliestTimer } from "../core/draft/standing.ts";
import { StepfoldError } from "../core/errors/stepfold-error.ts";
import { openScopes } from "../core/snapshot/address.ts";
import type { Snapshot, Status } from "../core/snapshot/snapshot.ts";
import type { EpochMs } from "../core/values/json.ts";
import type { Claimed, Lease } from "../ports/snapshot-store.ts";
import { Drive, type Driving } from "./drive.ts";

/** Wakes further off, or more of them, are left to the regular poll: it is late by its interval at most. */
const horizonMs = 60_000;
const mostWakes = 1_000;
/** How long after its time an execution is still looked for out of turn. */
const graceMs = 20;

/** How a driver finds work. */
export interface DriverOptions extends Driving {
  readonly lease: Lease;
  /** How often the store is asked for what others left. */
  readonly pollMs: number;
  /** Executions driven at once. */
  readonly maxExecutions: number;
  /** Told of an execution that could not be driven; it stays claimed until the lease ends, and is tried again then. */
  readonly onProblem: (workflowId: string | null, error: unknown) => void;
}

/** Drives what is started here, and whatever is due and nobody holds: timers, retries, what a crash left behind. */
export class Driver {
  readonly #options: DriverOptions;
  readonly #drives = new Map<string, Drive>();
  /** When executions that were driven here are due again, as far as that is soon. */
  readonly #wakes = new Map<string, EpochMs>();
  /** Executions that changed while they were driven here: perhaps after the last look. */
  readonly #nudged = new Set<string>();
  #cancelPoll: (() => void) | null = null;
  #pollAt = Number.POSITIVE_INFINITY;
  #polling: Promise<void> | null = null;
  #opened = false;
  #closed = false;

  constructor(options: DriverOptions) {
    this.#options = options;
  }

  /** Begins to look for due executions. */
  open(): void {
    this.#opened = true;
    this.#pollIn(0);
  }

  /** True while the execution is driven here. */
  holds(workflowId: string): boolean {
    return this.#drives.has(workflowId);
  }

  /** True while it is driven here, and did not have a status that matters when it was committed last: then that is still to be told. */
  follows(workflowId: string, matters: (status: Status) => boolean): boolean {
    const drive = this.#drives.get(workflowId);
    return drive !== undefined && !matters(drive.status);
  }

  /** Drives an execution that is claimed already. */
  async take(claimed: Claimed): Promise<Snapshot> {
    const { workflowId } = claimed.claim;
    const { registry, onProblem } = this.#options;
    try {
      const workflow = await registry.pinned(workflowId, claimed.snapshot.definition.hash);
      const started = new Drive(claimed, workflow, this.#options);
      this.#drives.set(workflowId, started);
      this.#wakes.delete(workflowId);
      if (this.#closed) started.drain();
      const snapshot = await started.done;
      this.#wakeFor(snapshot);
      return snapshot;
    } catch (error) {
      if (!StepfoldError.is(error, "FENCE_LOST")) onProblem(workflowId, error);
      throw error;
    } finally {
      this.#drives.delete(workflowId);
      if (this.#nudged.delete(workflowId)) this.nudge(workflowId).catch(() => undefined);
      if (this.#drives.size === this.#options.maxExecutions - 1) this.#pollIn(0);
    }
  }

  /** Somebody has committed to an execution: whoever drives it here looks, or it is claimed and driven. */
  async nudge(workflowId: string): Promise<void> {
    const running = this.#drives.get(workflowId);
    if (running) {
      this.#nudged.add(workflowId);
      return running.look();
    }
    if (this.#closed) return;
    const [claimed] = await this.#options.store.claim({ ...this.#options.lease, limit: 1, workflowId });
    if (claimed) this.#background(claimed);
  }

  /** Takes no more work, and waits for the steps under way; after `timeoutMs` they are given up and left to their leases. */
  async close(timeoutMs: number): Promise<void> {
    this.#closed = true;
    this.#cancelPoll?.();
    await this.#polling;
    const { environment } = this.#options.setting;
    const cancel = environment.after(timeoutMs, () => {
      for (const running of this.#drives.values())
        running.stop(new StepfoldError("RUNTIME_CLOSED", { action: "wait for this step any longer" }));
    });
    for (const running of this.#drives.values()) running.drain();
    await Promise.allSettled([...this.#drives.values()].map(({ done }) => done));
    cancel();
  }

  #background(claimed: Claimed): void {
    this.take(claimed).catch(() => undefined);
  }

  #pollIn(delayMs: number): void {
    if (!this.#opened || this.#closed) return;
    const { environment } = this.#options.setting;
    const at = environment.monotonicMs() + delayMs;
    if (at >= this.#pollAt) return;
    this.#cancelPoll?.();
    this.#pollAt = at;
    this.#cancelPoll = environment.after(delayMs, () => {
      this.#pollAt = Number.POSITIVE_INFINITY;
      this.#polling ??= this.#poll().finally(() => {
        this.#polling = null;
        this.#pollIn(this.#options.pollMs);
        this.#pollForWakes();
      });
    });
  }

  async #poll(): Promise<void> {
    const { store, lease, maxExecutions, onProblem } = this.#options;
    const limit = maxExecutions - this.#drives.size;
    if (limit <= 0) return;
    try {
      const found = await store.claim({ ...lease, limit });
      for (const claimed of found) this.#background(claimed);
      if (found.length === limit) this.#pollIn(0);
    } catch (error) {
      onProblem(null, error);
    }
  }

  /** A timer that this process knows of need not wait for the regular poll. */
  #wakeFor(snapshot: Snapshot): void {
    const at = earliestWake(snapshot);
    const { environment } = this.#options.setting;
    if (at === null || at - environment.now() > horizonMs || this.#wakes.size >= mostWakes) return;
    this.#wakes.set(snapshot.workflowId, at);
    this.#pollForWakes();
  }

  #pollForWakes(): void {
    const now = this.#options.setting.environment.now();
    let first = Number.POSITIVE_INFINITY;
    for (const [workflowId, at] of this.#wakes) {
      // what was due a while ago is in other hands
      if (at < now - graceMs) this.#wakes.delete(workflowId);
      else first = Math.min(first, at);
    }
    // a timer may fire a moment early, and the store's clock may be a moment behind
    if (first < Number.POSITIVE_INFINITY) this.#pollIn(Math.max(first - now, 0) + 1);
  }
}

function earliestWake(snapshot: Snapshot): EpochMs | null {
  let earliest = Number.POSITIVE_INFINITY;
  for (const [, paths] of openScopes(snapshot)) {
    earliest = Math.min(earliest, earliestTimer(paths) ?? earliest);
    for (const { nextRetryAt = earliest } of paths) earliest = Math.min(earliest, nextRetryAt);
  }
  return earliest === Number.POSITIVE_INFINITY ? null : earliest;
}
