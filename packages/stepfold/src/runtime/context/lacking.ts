import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { LackedDefinition } from "../../ports/store-workers.ts";

/** The most definitions that are remembered; the oldest are forgotten, and found out again. */
const maxRemembered = 10_000;
/** How long a definition counts as lacking that the store does not have: it may be put there again. */
const missingForMs = 60_000;
/** The most characters of an error message that are kept. */
const maxMessageLength = 1_000;

const lackingCodes: readonly string[] = ["DEFINITION_MISSING", "DEFINITION_INVALID", "DEFINITION_CHANGED"];

/** True for an error that says that this process cannot run a definition. */
export function isLacking(error: unknown): error is StepfoldError {
  return StepfoldError.is(error) && lackingCodes.includes(error.code);
}

/** The error that tells why this process leaves an execution to others. */
export function leftError(workflowId: string, { workflow, code, message: reason }: LackedDefinition): StepfoldError {
  return new StepfoldError("WORKFLOW_LEFT", { workflowId, workflow, code, reason });
}

/**
 * The definitions that this process cannot run. Its claims leave their executions to other processes, so that none of them is held up here.
 * What the code of the process lacks stays lacking as long as the process lives.
 */
export class Lacking {
  readonly #found = new Map<string, { readonly lacked: LackedDefinition; readonly untilMs: number }>();
  readonly #hashes = new Set<string>();

  /** The hashes of the definitions whose executions are left to others. @param nowMs the time on the monotonic clock */
  hashes(nowMs: number): ReadonlySet<string> {
    for (const hash of this.#hashes) if (this.#found.get(hash)!.untilMs <= nowMs) this.#hashes.delete(hash);
    return this.#hashes;
  }

  /**
   * Notes that a definition cannot be run.
   *
   * @returns what was noted; null if it was known before
   */
  add(
    { hash, id: workflow }: { readonly hash: string; readonly id: string },
    { code, message }: StepfoldError,
    at: { readonly since: EpochMs; readonly nowMs: number },
  ): LackedDefinition | null {
    const known = this.#found.get(hash);
    const lacked = known?.lacked ?? { hash, workflow, code, message: message.slice(0, maxMessageLength), since: at.since };
    if (!known && this.#found.size >= maxRemembered) this.#forgetOldest();
    this.#found.set(hash, { lacked, untilMs: code === "DEFINITION_INVALID" ? Number.POSITIVE_INFINITY : at.nowMs + missingForMs });
    this.#hashes.add(hash);
    return known ? null : lacked;
  }

  /** Returns why a definition cannot be run; null: nothing is known of that. */
  get(hash: string): LackedDefinition | null {
    return this.#found.get(hash)?.lacked ?? null;
  }

  /** All of them, the oldest first. */
  all(): readonly LackedDefinition[] {
    return [...this.#found.values()].map(({ lacked }) => lacked);
  }

  #forgetOldest(): void {
    const [hash] = this.#found.keys();
    this.#found.delete(hash!);
    this.#hashes.delete(hash!);
  }
}
