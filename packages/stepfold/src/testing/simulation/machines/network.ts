import type { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Random } from "../random.ts";
import type { FaultKind, Faults } from "./faults.ts";
import type { Machine } from "./machine.ts";
import type { Scheduler } from "./scheduler.ts";

/** The kinds of faults that calls of a service can have. */
export interface ServiceFaults {
  /** The call fails without an effect. */
  readonly before: FaultKind;
  /** The call fails after it had its effect. */
  readonly after: FaultKind;
  /** The call takes long; null for a service that is never slow. Only such services are replaced by a failover. */
  readonly slow: FaultKind | null;
  /** The call is never answered; null for a service without this fault. */
  readonly hang: FaultKind | null;
  /** Makes the error that callers get. */
  readonly error: (reason: string) => StepfoldError;
}

/** The shortest and the longest time of a call's way, in milliseconds, without faults. */
const minLatencyMs = 1;
const maxLatencyMs = 15;
/** After how many milliseconds a call fails if its process is cut off from the network. */
const giveUpAfterMs = 400;

/** The network between processes and services: it delays calls and loses them. */
export class Network {
  /** The process whose call a service is serving. */
  caller: Machine | null = null;
  /** Until this time, every call of a service that can be slow takes longer than its caller waits. */
  slowUntilMs = 0;
  /** Until this time, services that can be slow do not answer, because their server is being replaced. */
  downUntilMs = 0;
  /** How many times the server was replaced. Answers that were on their way then are lost. */
  replaced = 0;
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #faults: Faults;
  readonly #longMs: number;

  /** @param longMs the usual time of a slow way to a service or back, in milliseconds: one lease */
  constructor(scheduler: Scheduler, random: Random, faults: Faults, longMs: number) {
    this.#scheduler = scheduler;
    this.#random = random;
    this.#faults = faults;
    this.#longMs = longMs;
  }

  /** Calls a service. The promise never settles if the caller dies first or no answer comes; the service may have done its work. */
  call<T>(from: Machine, kinds: ServiceFaults, serve: () => Promise<T>): Promise<T> {
    const { replaced } = this;
    // A connection ends with its server: calls and answers on their way reach neither the other side nor the new server.
    const isReplaced = (): boolean => kinds.slow !== null && this.replaced !== replaced;
    return new Promise((resolve, reject) => {
      const back = (delayMs: number, settle: () => void): void => {
        this.#scheduler.after(delayMs, () => from.isAlive && settle());
      };
      const fail = (delayMs: number, reason: string): void => back(delayMs, () => reject(kinds.error(reason)));
      this.#scheduler.after(this.#latencyMs(kinds), () => {
        // A call that a process sent just before its end may arrive or not.
        if (!from.isAlive && (isReplaced() || this.#random.chance(0.5))) return;
        if (this.#isNeverAnswered(from, kinds)) {
          const isThere = !isReplaced() && this.downUntilMs <= this.#scheduler.nowMs;
          if (isThere && this.#random.chance(0.5)) this.#serve(from, serve, ignore, ignore, ignore);
          return;
        }
        const answer = (settle: () => void): void => {
          if (this.#isCutOff(from)) fail(giveUpAfterMs, "no answer came");
          else if (this.#faults.happens(kinds.after)) fail(this.#latencyMs(kinds), "the connection broke");
          else back(this.#latencyMs(kinds), () => (isReplaced() ? reject(kinds.error("its server was replaced")) : settle()));
        };
        if (this.#isCutOff(from)) fail(giveUpAfterMs, "it cannot be reached");
        else if (isReplaced() || (kinds.slow && this.downUntilMs > this.#scheduler.nowMs))
          fail(this.#latencyMs(kinds), "its server is being replaced");
        else if (this.#faults.happens(kinds.before)) fail(this.#latencyMs(kinds), "it refused the connection");
        else this.#serve(from, serve, resolve, reject, answer);
      });
    });
  }

  /** Lets the service do its work; `answer` sends its result back. */
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

  /** True if the call or its answer goes to a silent connection. */
  #isNeverAnswered({ silentUntilMs, silentShare }: Machine, { hang }: ServiceFaults): boolean {
    if (silentUntilMs > this.#scheduler.nowMs && this.#random.chance(silentShare)) return true;
    return hang !== null && this.#faults.happens(hang);
  }

  #latencyMs({ slow }: ServiceFaults): number {
    if (slow && this.slowUntilMs > this.#scheduler.nowMs) return this.#random.between(this.#longMs / 2, this.#longMs);
    if (slow && this.#faults.happens(slow)) return this.#random.between(this.#longMs / 2, this.#longMs * 2);
    return this.#random.between(minLatencyMs, maxLatencyMs);
  }

  #isCutOff({ cutOffUntilMs }: Machine): boolean {
    return cutOffUntilMs > this.#scheduler.nowMs;
  }
}

function ignore(): void {}
