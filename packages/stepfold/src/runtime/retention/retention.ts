import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { type Duration, durationMs } from "../../core/values/duration.ts";
import type { TrimOptions } from "../../ports/store-removal.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import { withTimeout } from "../context/with-timeout.ts";
import { prunedTogether } from "./prune.ts";

/** The time between two rounds of deletions. */
const intervalMs = 10 * 60_000;
/** The most executions that one call of the store deletes. */
const batchSize = prunedTogether;
/** The most calls for one rule in one round. The rest is left to the next round, so that other work is not delayed. */
const maxBatches = 100;

/** How long ended executions of one workflow, or of all, and ended runs of open ones are kept. */
interface RetentionRule {
  readonly definitionId?: string;
  readonly keepMs: number;
}

/** Reads the option `retention`: one duration for all workflows, or one for each. @throws StepfoldError `OPTION_INVALID` */
export function readRetention(given: Duration | Readonly<Record<string, Duration>> | undefined, context: RuntimeContext): Retention {
  if (given === undefined) return new Retention([], context);
  if (typeof given !== "object" || given === null) return new Retention([{ keepMs: keepMs("retention", given) }], context);
  const rules = Object.entries(given).map(([definitionId, duration]) => {
    return { definitionId, keepMs: keepMs(`retention.${definitionId}`, duration) };
  });
  return new Retention(rules, context);
}

function keepMs(option: string, duration: Duration): number {
  try {
    return durationMs(duration);
  } catch {
    throw new StepfoldError("OPTION_INVALID", { option, reason: 'must be a duration: milliseconds, "30d", "PT12H"' });
  }
}

/** Deletes executions that ended long enough ago, and earlier runs of others that did, every ten minutes. */
export class Retention {
  readonly #rules: readonly RetentionRule[];
  readonly #context: RuntimeContext;
  #cancel: () => void = () => undefined;
  #pruning: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(rules: readonly RetentionRule[], context: RuntimeContext) {
    this.#rules = rules;
    this.#context = context;
  }

  open(): void {
    this.#closed = false;
    if (this.#rules.length > 0) this.#pruneIn(0);
  }

  /** Resolves when no deletion is in flight any more, or after `timeoutMs`. */
  async close(timeoutMs: number): Promise<void> {
    this.#closed = true;
    this.#cancel();
    await withTimeout(this.#context.environment, timeoutMs, this.#pruning);
  }

  #pruneIn(delayMs: number): void {
    if (this.#closed) return;
    const prune = (): void => {
      this.#pruning = this.#prune().finally(() => this.#pruneIn(intervalMs));
    };
    this.#cancel = this.#context.environment.after(delayMs, prune, { background: true });
  }

  async #prune(): Promise<void> {
    const { store, clock, onProblem } = this.#context;
    for (const { keepMs: age, ...which } of this.#rules) {
      try {
        const removals = [(options: TrimOptions) => store.prune(options), (options: TrimOptions) => store.trim(options)];
        for (const remove of removals) {
          for (let batches = 0; batches < maxBatches && !this.#closed; batches++) {
            const { executions } = await remove({ ...which, before: (await clock.now()) - age, limit: batchSize });
            if (executions < batchSize) break;
          }
        }
      } catch (error) {
        // the next round tries again
        onProblem(null, error);
      }
    }
  }
}
