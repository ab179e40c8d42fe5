import type { Duration } from "../../core/definition/definition.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { durationMs } from "../../core/values/duration.ts";
import type { Environment } from "../../ports/environment.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import type { StoreClock } from "../context/store-clock.ts";
import { within } from "../context/with-timeout.ts";

const everyMs = 10 * 60_000;
/** Executions of one workflow deleted in one go. */
const together = 500;
/** So many goes, then other work comes first: the rest is left to the next time. */
const mostGoes = 20;

/** How long executions of one workflow, or of all, are kept once they have ended. */
interface Kept {
  readonly definitionId?: string;
  readonly keepMs: number;
}

interface Around {
  readonly store: SnapshotStore;
  readonly environment: Environment;
  readonly clock: StoreClock;
  readonly onProblem: (error: unknown) => void;
}

/** @throws StepfoldError `OPTION_INVALID` */
export function readRetention(given: Duration | Readonly<Record<string, Duration>> | undefined, around: Around): Retention {
  if (given === undefined) return new Retention([], around);
  if (typeof given !== "object") return new Retention([{ keepMs: keepMs("retention", given) }], around);
  const kept = Object.entries(given).map(([definitionId, duration]) => {
    return { definitionId, keepMs: keepMs(`retention.${definitionId}`, duration) };
  });
  return new Retention(kept, around);
}

function keepMs(option: string, duration: Duration): number {
  try {
    return durationMs(duration);
  } catch {
    throw new StepfoldError("OPTION_INVALID", { option, reason: 'must be a duration: milliseconds, "30d", "PT12H"' });
  }
}

/** Deletes executions that ended long enough ago, now and then. */
export class Retention {
  readonly #kept: readonly Kept[];
  readonly #around: Around;
  #cancel: () => void = () => undefined;
  #pruning: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(kept: readonly Kept[], around: Around) {
    this.#kept = kept;
    this.#around = around;
  }

  /** Begins. */
  open(): void {
    this.#closed = false;
    if (this.#kept.length > 0) this.#pruneIn(0);
  }

  /** Resolves when nothing is being deleted any more, or after `timeoutMs`. */
  async close(timeoutMs: number): Promise<void> {
    this.#closed = true;
    this.#cancel();
    await within(this.#around.environment, timeoutMs, this.#pruning);
  }

  #pruneIn(delayMs: number): void {
    if (this.#closed) return;
    const prune = (): void => {
      this.#pruning = this.#prune().finally(() => this.#pruneIn(everyMs));
    };
    this.#cancel = this.#around.environment.after(delayMs, prune, { background: true });
  }

  async #prune(): Promise<void> {
    const { store, clock, onProblem } = this.#around;
    for (const { keepMs: age, ...which } of this.#kept) {
      try {
        for (let goes = 0; goes < mostGoes && !this.#closed; goes++) {
          const { executions } = await store.prune({ ...which, before: (await clock.now()) - age, limit: together });
          if (executions < together) break;
        }
      } catch (error) {
        // what could not be deleted now is there the next time
        onProblem(error);
      }
    }
  }
}
