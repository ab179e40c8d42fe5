import type { Environment } from "../../ports/environment.ts";

/** Towards the end of a slice nothing new is begun for this part of it, so that steps under way can end. */
const drainingPart = 0.25;
/** What steps that are cut off have, to commit what is done and to give their claims back: a tenth of the slice, and no more than this. */
const maxUnwindMs = 1_000;
const unwindPart = 0.1;

/** A session, as its slice sees it. */
interface SlicedSession {
  /** Begins no more steps. */
  drain(): void;
  /** Ends at once, and gives the claim back. */
  cutOff(reason: unknown, crashMs: number): void;
}

/** An execution that has something to do still. */
export interface LeftExecution {
  readonly workflowId: string;
  /** Whether the queue has a message for the execution. Without one, the next worker that polls the store, or the next sweep, finds it. */
  readonly isAnnounced: boolean;
}

interface TimeSliceOptions {
  /** Over after so many milliseconds. */
  readonly timeoutMs: number;
  /** Ends it sooner. */
  readonly signal?: AbortSignal | undefined;
  /** Called once, when its owner has ended it. */
  readonly onEnd: () => void;
}

/**
 * A bounded time in which executions are run. In its last quarter they begin no more steps; shortly before its end the steps under way
 * get their signal, and the claims are given back. Nothing of it is left afterwards, whatever the steps do.
 */
export class TimeSlice {
  /** Resolves once nothing more is to be begun. */
  readonly draining: Promise<void>;
  /** Resolves when the time is up. */
  readonly over: Promise<void>;
  /** Executions that ran in it, and were given back before they had done all that is due. */
  readonly left: LeftExecution[] = [];
  readonly #environment: Environment;
  readonly #options: TimeSliceOptions;
  readonly #unwindMs: number;
  readonly #sessions = new Set<SlicedSession>();
  readonly #cancels: (() => void)[] = [];
  #phase: "open" | "draining" | "cut off" = "open";
  #resolveDraining: () => void = () => undefined;
  #resolveOver: () => void = () => undefined;

  constructor(environment: Environment, options: TimeSliceOptions) {
    const { timeoutMs, signal } = options;
    this.#environment = environment;
    this.#options = options;
    this.#unwindMs = Math.min(maxUnwindMs, timeoutMs * unwindPart);
    this.draining = new Promise((resolve) => {
      this.#resolveDraining = resolve;
    });
    this.over = new Promise((resolve) => {
      this.#resolveOver = resolve;
    });
    this.#after(timeoutMs * (1 - drainingPart), () => this.drain());
    this.#after(timeoutMs - this.#unwindMs, () => this.#cutOff());
    this.#after(timeoutMs, () => this.#resolveOver());
    const abort = (): void => this.#cutOff();
    signal?.addEventListener("abort", abort, { once: true });
    this.#cancels.push(() => signal?.removeEventListener("abort", abort));
    if (signal?.aborted) this.#cutOff();
  }

  /** Whether more may be begun. */
  get isOpen(): boolean {
    return this.#phase === "open";
  }

  /** An execution runs in it from now on. */
  add(session: SlicedSession): void {
    this.#sessions.add(session);
    if (this.#phase !== "open") session.drain();
    if (this.#phase === "cut off") this.#stop(session);
  }

  /** It runs no more. @param left set if something of it is due still */
  remove(session: SlicedSession, left: LeftExecution | null): void {
    this.#sessions.delete(session);
    if (left) this.left.push(left);
  }

  /** Nothing more is begun in it. Safe to call twice. */
  drain(): void {
    if (this.#phase !== "open") return;
    this.#phase = "draining";
    this.#resolveDraining();
    for (const session of this.#sessions) session.drain();
  }

  /** All that ran in it has ended: its timers are gone. */
  end(): void {
    this.#phase = "cut off";
    for (const cancel of this.#cancels) cancel();
    this.#options.onEnd();
  }

  #cutOff(): void {
    if (this.#phase === "cut off") return;
    this.drain();
    this.#phase = "cut off";
    for (const session of this.#sessions) this.#stop(session);
    this.#after(this.#unwindMs, () => this.#resolveOver());
  }

  /** A step that had half of a slice and more will hardly fit into the next one: that counts as the death of a process would. */
  #stop(session: SlicedSession): void {
    session.cutOff(new DOMException("The time slice is over", "AbortError"), this.#options.timeoutMs / 2);
  }

  #after(delayMs: number, callback: () => void): void {
    this.#cancels.push(this.#environment.after(delayMs, callback));
  }
}
