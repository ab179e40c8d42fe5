import { earliestTimer } from "../../core/draft/standing.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { openScopes } from "../../core/snapshot/address.ts";
import type { Parked, Snapshot, Status } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { PreparedWorkflow } from "../../engine/prepared-workflow.ts";
import type { Claimed, Lease } from "../../ports/snapshot-store.ts";
import type { WorkQueue } from "../../ports/work-queue.ts";
import { Drive, type Driving } from "./execution-session.ts";
import { crashed, lacking, parkCommit } from "./park.ts";
import { Poller } from "./poller.ts";
import { Listener } from "./queue-consumer.ts";
import { noShares, type Origin, Places, sharesOf } from "./slots.ts";

/** What a queue has not told for so long, or what a dead worker held until so long ago, is looked for in the store. */
const graceMs = 500;
/** For steps that were given up to come to their end. */
const unwindMs = 500;

/** How a driver finds work. */
export interface DriverOptions extends Driving {
  readonly lease: Lease;
  /** How often the store is asked for what others left. */
  readonly pollMs: number;
  /** Tells what is due; null: only the store does. */
  readonly queue: WorkQueue | null;
  /** Processes that may die over an execution in a row; then it is parked. */
  readonly maxCrashes: number;
  /** Told of an execution that could not be driven; it stays claimed until the lease ends, and is tried again then. */
  readonly onProblem: (workflowId: string | null, error: unknown) => void;
}

/** An execution that was claimed, and is driven here. */
export interface Taken {
  /** When there was nothing more to do here. Rejects if it could not be driven, or was lost. */
  readonly snapshot: Promise<Snapshot>;
  /** Resolves when its place is free again: those that waited for its turn were driven in it, too. */
  readonly over: Promise<void>;
}

/** Drives what is started here, and whatever is due and nobody holds: timers, retries, what a crash left behind. */
export class Driver {
  readonly #options: DriverOptions;
  readonly #drives = new Map<string, Drive>();
  /** Executions that changed while they were driven here: perhaps after the last look. */
  readonly #nudged = new Set<string>();
  /** Everything that was taken and is not done with, to its last message. */
  readonly #taken = new Set<Promise<unknown>>();
  readonly #places = new Places();
  #poller: Poller | null = null;
  #listener: Listener | null = null;
  #isClosing = false;

  constructor(options: DriverOptions) {
    this.#options = options;
  }

  /** Begins to look for due executions, and drives so many at once. */
  open(places: number): void {
    const { store, setting, clock, lease, pollMs, queue, onProblem } = this.#options;
    const { environment } = setting;
    this.#places.shares = sharesOf(places, queue !== null);
    const { told } = this.#places.shares;
    const around = { store, environment, lease, onProblem: (error: unknown) => onProblem(null, error) };
    this.#poller = new Poller({
      ...around,
      clock,
      pollMs,
      overdueMs: queue ? graceMs : 0,
      room: () => this.#places.room("found"),
      isRoomy: () => this.#places.isRoomy("found"),
      take: (claimed, askedAtMs) => void this.take("found", claimed, askedAtMs),
    });
    if (queue) {
      const take = (claimed: Claimed, askedAtMs: number): Promise<void> => this.take("told", claimed, askedAtMs).over;
      this.#listener = new Listener({ ...around, queue, concurrency: told, take });
    }
  }

  /** True while it looks for due executions. */
  get isOpen(): boolean {
    return this.#poller !== null;
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

  /**
   * Drives in the background what `make` gives, if there is a place for it: only then it is given the lease to claim with.
   *
   * @returns whether it is driven here
   */
  async begin(make: (lease: Lease | null) => Promise<Claimed | null>): Promise<boolean> {
    if (this.#places.room("here") <= 0) {
      await make(null);
      // a queue tells of it
      if (!this.#options.queue) this.#poller?.more();
      return false;
    }
    this.#places.take("here");
    try {
      const askedAtMs = this.#options.setting.environment.monotonicMs();
      const claimed = await make(this.#options.lease);
      if (claimed) this.take("here", claimed, askedAtMs);
      return claimed !== null;
    } finally {
      this.#places.leave("here");
    }
  }

  /**
   * Drives an execution that is claimed already, even if there is no place left.
   *
   * @param askedAtMs when the claim was asked for, by the monotonic clock
   */
  take(origin: Origin, claimed: Claimed, askedAtMs: number): Taken {
    this.#places.take(origin);
    const snapshot = this.#drive(claimed, askedAtMs);
    const over = this.#driveOthersAfter(snapshot).finally(() => {
      this.#taken.delete(over);
      this.#places.leave(origin);
      this.#poller?.left();
    });
    this.#taken.add(over);
    return { snapshot, over };
  }

  async #drive(claimed: Claimed, askedAtMs: number): Promise<Snapshot> {
    const { workflowId, leaseMs, claimedAt } = claimed.claim;
    const { onProblem, setting, clock } = this.#options;
    clock.tell(claimedAt);
    try {
      // an answer that was so long under way is about what others may hold by now
      if (setting.environment.monotonicMs() >= askedAtMs + leaseMs) throw new StepfoldError("FENCE_LOST", { workflowId });
      const workflow = await this.#workflowOf(claimed);
      if (!("compiled" in workflow)) return await this.#park(claimed, workflow);
      const drive = new Drive(claimed, workflow, this.#options, askedAtMs);
      this.#drives.set(workflowId, drive);
      this.#poller?.forget(workflowId);
      if (this.#isClosing) drive.drain();
      const snapshot = await drive.done;
      await this.#expect(drive, snapshot);
      return snapshot;
    } catch (error) {
      if (!StepfoldError.is(error, "FENCE_LOST")) onProblem(workflowId, error);
      throw error;
    } finally {
      this.#drives.delete(workflowId);
      if (this.#nudged.delete(workflowId)) this.nudge(workflowId).catch(() => undefined);
    }
  }

  /**
   * Somebody has committed to an execution: whoever drives it here looks, or it is claimed and driven.
   *
   * @returns whether it is driven here
   */
  async nudge(workflowId: string): Promise<boolean> {
    const running = this.#drives.get(workflowId);
    if (!running) {
      return this.begin(async (lease) => (lease && (await this.#options.store.claim({ ...lease, limit: 1, workflowId }))[0]) ?? null);
    }
    this.#nudged.add(workflowId);
    running.look();
    return true;
  }

  /** Takes no more work, and waits for the steps under way; after `timeoutMs` they are given up and left to their leases. */
  async close(timeoutMs: number): Promise<void> {
    this.#places.shares = noShares;
    this.#isClosing = true;
    const found = Promise.all([this.#poller?.close(), this.#listener?.close()]);
    this.#poller = null;
    this.#listener = null;
    const { environment } = this.#options.setting;
    let cancel = (): void => undefined;
    // a store or a queue that never answers does not keep the process from ending
    const patience = new Promise<void>((resolve) => {
      cancel = environment.after(timeoutMs, () => {
        for (const running of this.#drives.values())
          running.stop(new StepfoldError("RUNTIME_CLOSED", { action: "wait for this step any longer" }));
        cancel = environment.after(unwindMs, resolve);
      });
    });
    for (const running of this.#drives.values()) running.drain();
    const driven = async (): Promise<void> => {
      await this.#allDriven();
      await found;
      // what was found last is drained from the start
      await this.#allDriven();
    };
    await Promise.race([driven(), patience]);
    cancel();
    this.#isClosing = false;
  }

  async #allDriven(): Promise<void> {
    await Promise.allSettled([...this.#taken]);
  }

  /** What it runs, or why it cannot. */
  async #workflowOf({ claim, snapshot }: Claimed): Promise<PreparedWorkflow | Parked> {
    const { registry, store, maxCrashes } = this.#options;
    if (claim.crashes >= maxCrashes) return crashed(claim, snapshot, claim.claimedAt);
    try {
      return await registry.pinned(claim.workflowId, snapshot.definition.hash);
    } catch (error) {
      const why = lacking(error, snapshot, claim.claimedAt);
      if (why) return why;
      // nobody has died over it
      await store.release(claim, snapshot.version).catch(() => undefined);
      throw error;
    }
  }

  async #park(claimed: Claimed, why: Parked): Promise<Snapshot> {
    const { store, newCommitId, onCommitted, onProblem } = this.#options;
    const { workflowId } = claimed.claim;
    const commit = parkCommit(claimed, why, newCommitId());
    await store.commit(commit);
    const parked: Snapshot = Object.freeze({ ...claimed.snapshot, ...commit.head });
    onCommitted({ workflowId, version: parked.version, status: parked.status, snapshot: () => parked });
    onProblem(workflowId, new StepfoldError("EXECUTION_PARKED", { workflowId, code: why.code, message: why.message }));
    return parked;
  }

  /** When its turn is over, whoever waits for the same need not wait for the next poll: it gets the same place. */
  async #driveOthersAfter(driven: Promise<Snapshot>): Promise<void> {
    const { store, lease, setting } = this.#options;
    try {
      for (let { permit } = await driven; permit && this.isOpen; ) {
        const askedAtMs = setting.environment.monotonicMs();
        const [claimed] = await store.claim({ ...lease, limit: 1, permit: permit.key });
        if (!claimed) return;
        ({ permit } = await this.#drive(claimed, askedAtMs));
      }
    } catch {
      // what goes wrong with one is told where it is driven; others are found by the next poll
    }
  }

  /** Somebody has to be there when it is due again. */
  async #expect(drive: Drive, snapshot: Snapshot): Promise<void> {
    const { queue, messenger } = this.#options;
    if (queue) return drive.isTold ? undefined : messenger.send(snapshot, drive.wakeAt);
    const at = earliestWake(snapshot);
    if (at !== null) this.#poller?.expect(snapshot.workflowId, at);
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
