/** A durable promise of a workflow of Restate, as far as it is used. */
export interface RestateDurablePromise<T> {
  get(): PromiseLike<T> & { orTimeout(durationMs: number): PromiseLike<T> };
  peek(): PromiseLike<T | undefined>;
  resolve(value: T): PromiseLike<void>;
}

/** What the context of any handler of a workflow of Restate has, as far as it is used. Described here and not imported, so that it is no dependency. */
export interface RestateSharedContext {
  readonly date: { now(): PromiseLike<number> };
  readonly rand: { uuidv4(): string };
  promise<T>(name: string): RestateDurablePromise<T>;
}

/** The context of the handler `run` of a workflow of Restate, as far as it is used. */
export interface RestateRunContext<Run> extends RestateSharedContext {
  /** The id of the workflow. */
  readonly key: string;
  run(name: string, action: () => Promise<unknown>): Run;
}
