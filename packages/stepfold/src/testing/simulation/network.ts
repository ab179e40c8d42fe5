import type { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { FaultKind, Faults } from "./faults.ts";
import type { Machine } from "./machine.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";

/** How a service fails. */
export interface Trouble {
  readonly before: FaultKind;
  readonly after: FaultKind;
  readonly slow: FaultKind | null;
  /** A call is never answered. */
  readonly hang: FaultKind | null;
  /** What its callers get then. */
  readonly error: (reason: string) => StepfoldError;
}

/** What a call takes, in milliseconds, when all is well. */
const quickest = 1;
const slowest = 15;
/** How long a caller waits for an answer that never comes. */
const giveUpAfterMs = 400;

/** The network between processes and services: it delays calls and loses them. */
export class Network {
  /** The caller that a service is working for. */
  caller: Machine | null = null;
  /** Until this time every call of what can be slow takes longer than its caller waits. */
  slowUntilMs = 0;
  /** Until this time nothing of that answers: its server is being replaced. */
  downUntilMs = 0;
  /** How often that has happened: answers that were on their way are lost. */
  replaced = 0;
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #faults: Faults;
  readonly #longMs: number;

  /** @param longMs what a slow call may take */
  constructor(scheduler: Scheduler, random: Random, faults: Faults, longMs: number) {
    this.#scheduler = scheduler;
    this.#random = random;
    this.#faults = faults;
    this.#longMs = longMs;
  }

  /** A call of a service. Never settles if the caller dies first; the service may have done its work all the same. */
  call<T>(from: Machine, trouble: Trouble, serve: () => Promise<T>): Promise<T> {
    const { replaced } = this;
    // a connection ends with its server: what is on its way, to it or back, does not reach its caller or the one that takes its place
    const isReplaced = (): boolean => trouble.slow !== null && this.replaced !== replaced;
    return new Promise((resolve, reject) => {
      const back = (delayMs: number, settle: () => void): void => {
        this.#scheduler.after(delayMs, () => from.isAlive && settle());
      };
      const fail = (delayMs: number, reason: string): void => back(delayMs, () => reject(trouble.error(reason)));
      this.#scheduler.after(this.#latencyMs(trouble), () => {
        // what a process sent just before its end may arrive, or not
        if (!from.isAlive && (isReplaced() || this.#random.chance(0.5))) return;
        if (this.#isNeverAnswered(from, trouble)) {
          const isThere = !isReplaced() && this.downUntilMs <= this.#scheduler.nowMs;
          if (isThere && this.#random.chance(0.5)) this.#serve(from, serve, ignore, ignore, ignore);
          return;
        }
        const answer = (settle: () => void): void => {
          if (this.#isCutOff(from)) fail(giveUpAfterMs, "no answer came");
          else if (this.#faults.happens(trouble.after)) fail(this.#latencyMs(trouble), "the connection broke");
          else back(this.#latencyMs(trouble), () => (isReplaced() ? reject(trouble.error("its server was replaced")) : settle()));
        };
        if (this.#isCutOff(from)) fail(giveUpAfterMs, "it cannot be reached");
        else if (isReplaced() || (trouble.slow && this.downUntilMs > this.#scheduler.nowMs))
          fail(this.#latencyMs(trouble), "its server is being replaced");
        else if (this.#faults.happens(trouble.before)) fail(this.#latencyMs(trouble), "it refused the connection");
        else this.#serve(from, serve, resolve, reject, answer);
      });
    });
  }

  /** The service is at work; `answer` takes what it says back. */
  #serve<T>(
    from: Machine,
    serve: () => Promise<T>,
    resolve: (value: T) => void,
    reject: (error: unknown) => void,
    answer: (settle: () => void) => void,
  ): void {
    this.caller = from;
    serve().then(
      (value) => answer(() => resolve(value)),
      (error: unknown) => answer(() => reject(error)),
    );
    this.caller = null;
  }

  /** Whether the call, or its answer, goes to a connection that is silent. */
  #isNeverAnswered({ silentUntilMs, silentShare }: Machine, { hang }: Trouble): boolean {
    if (silentUntilMs > this.#scheduler.nowMs && this.#random.chance(silentShare)) return true;
    return hang !== null && this.#faults.happens(hang);
  }

  #latencyMs({ slow }: Trouble): number {
    if (slow && this.slowUntilMs > this.#scheduler.nowMs) return this.#random.between(this.#longMs / 2, this.#longMs);
    if (slow && this.#faults.happens(slow)) return this.#random.between(this.#longMs / 2, this.#longMs * 2);
    return this.#random.between(quickest, slowest);
  }

  #isCutOff({ cutOffUntilMs }: Machine): boolean {
    return cutOffUntilMs > this.#scheduler.nowMs;
  }
}

function ignore(): void {}
