import type { Environment } from "../../ports/environment.ts";

/** The last part of a slice, in which nothing new begins, so that steps in flight can end. */
const drainingPart = 0.25;
/** The time that sessions which are cut off have to commit what is done and give their claims back: a tenth of the slice, at most this. */
const maxUnwindMs = 1_000;
const unwindPart = 0.1;

/** The members of a session that a slice uses. */
interface SlicedSession {
  /** Begins no more steps. */
  drain(): void;
  /** Ends the session at once and gives the claim back. The end counts as a crash if the last commit is at least that long ago. */
  cutOff(reason: unknown, countsAsCrashAfterMs: number): void;
}

/** An execution that still has something to do. */
export interface LeftExecution {
  readonly workflowId: string;
  /** Whether the queue has a message for the execution. Without one, the next worker that polls the store, or the next sweep, finds it. */
  readonly isAnnounced: boolean;
}

interface TimeSliceOptions {
  /** The length of the slice in milliseconds. */
  readonly timeoutMs: number;
  /** Ends the slice early. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the owner of the slice ends it. */
  readonly onEnd: () => void;
}

/**
 * A bounded time in which executions run. In its last quarter they begin no more steps. Shortly before its end the steps in flight get
 * their `AbortSignal`, and the claims are given back. The end of the slice does not wait for a step that ignores its signal.
 */
export class TimeSlice {
  /** Resolves when nothing more may begin. */
  readonly draining: Promise<void>;
  /** Resolves when the time is up. */
  readonly over: Promise<void>;
  /** Executions that ran in the slice, and were given back while something was still due. */
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

  /** Whether more executions may begin. */
  get isOpen(): boolean {
    return this.#phase === "open";
  }

  /** Adds the session of an execution that runs in the slice from now on. */
  add(session: SlicedSession): void {
    this.#sessions.add(session);
    if (this.#phase !== "open") session.drain();
    if (this.#phase === "cut off") this.#stop(session);
  }

  /** Removes a session that has ended. @param left the execution, if something of it is still due; else null */
  remove(session: SlicedSession, left: LeftExecution | null): void {
    this.#sessions.delete(session);
    if (left) this.left.push(left);
  }

  /** Lets nothing more begin in the slice. Safe to call twice. */
  drain(): void {
    if (this.#phase !== "open") return;
    this.#phase = "draining";
    this.#resolveDraining();
    for (const session of this.#sessions) session.drain();
  }

  /** Ends the slice and removes its timers. Its owner calls this when the work is done or the time is up. */
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

  /** Cuts a session off. A step that had at least half of the slice will hardly fit into the next one, so this counts as a crash. */
  #stop(session: SlicedSession): void {
    session.cutOff(new DOMException("The time slice is over", "AbortError"), this.#options.timeoutMs / 2);
  }

  #after(delayMs: number, callback: () => void): void {
    this.#cancels.push(this.#environment.after(delayMs, callback));
  }
}
