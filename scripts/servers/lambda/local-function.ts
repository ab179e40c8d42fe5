import { FunctionInstance, type FunctionProcess, type Invocation } from "./function-instance.ts";

export interface LocalFunctionOptions extends FunctionProcess {
  /** The time limit of one call, in milliseconds. A process that takes longer is killed. */
  readonly timeoutMs: number;
  /** The largest number of processes at the same time. Further calls wait. */
  readonly concurrency: number;
}

/** A function as AWS Lambda runs it: each process runs one call at a time, is frozen between calls, and is used again. */
export class LocalFunction {
  /** The results of all calls, in the order in which they ended. */
  readonly invocations: Invocation[] = [];
  readonly #options: LocalFunctionOptions;
  readonly #instances = new Set<FunctionInstance>();
  readonly #waiting: (() => void)[] = [];
  #starting = 0;
  #isClosed = false;

  constructor(options: LocalFunctionOptions) {
    this.#options = options;
  }

  /** Calls the function with an event. */
  async invoke(event: unknown): Promise<Invocation> {
    const instance = await this.#idle();
    const invocation = instance ? await instance.invoke(event, this.#options.timeoutMs) : ({ status: "died" } as const);
    this.invocations.push(invocation);
    return invocation;
  }

  /**
   * Kills the processes that are running a call.
   * @returns the number of killed processes
   */
  killBusy(): number {
    const busy = [...this.#instances].filter(({ isBusy }) => isBusy);
    for (const instance of busy) instance.kill();
    return busy.length;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wake();
    await Promise.all([...this.#instances].map((instance) => instance.close()));
  }

  /** Returns a process that is ready, and starts one if none is. Returns null once the function is closed. */
  async #idle(): Promise<FunctionInstance | null> {
    while (!this.#isClosed) {
      for (const instance of this.#instances) if (instance.isDead) this.#instances.delete(instance);
      for (const instance of this.#instances) if (instance.take()) return instance;
      if (this.#instances.size + this.#starting < this.#options.concurrency) {
        this.#starting++;
        this.#instances.add(await FunctionInstance.start(this.#options, () => this.#wake()));
        this.#starting--;
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    return null;
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
