import { FunctionInstance, type FunctionProcess, type Invocation } from "./function-instance.ts";

export interface LocalFunctionOptions extends FunctionProcess {
  /** What one call may take, in milliseconds; then its process is ended. */
  readonly timeoutMs: number;
  /** Processes at once. More calls wait. */
  readonly concurrency: number;
}

/** A function as AWS Lambda runs it: one call at a time in each process, which is frozen between calls, and used again. */
export class LocalFunction {
  /** What became of all calls, in the order of their ends. */
  readonly invocations: Invocation[] = [];
  readonly #options: LocalFunctionOptions;
  readonly #instances = new Set<FunctionInstance>();
  readonly #waiting: (() => void)[] = [];
  #starting = 0;
  #isClosed = false;

  constructor(options: LocalFunctionOptions) {
    this.#options = options;
  }

  /** Calls it with an event. */
  async invoke(event: unknown): Promise<Invocation> {
    const instance = await this.#idle();
    const invocation = instance ? await instance.invoke(event, this.#options.timeoutMs) : ({ status: "died" } as const);
    this.invocations.push(invocation);
    return invocation;
  }

  /** Kills the processes in which a call is under way. @returns how many */
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

  /** A process that is ready, started if there is none; null once this is closed. */
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
