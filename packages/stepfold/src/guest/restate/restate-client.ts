/** The methods that are used of a durable promise of a Restate workflow. */
export interface RestateDurablePromise<T> {
  get(): PromiseLike<T> & { orTimeout(durationMs: number): PromiseLike<T> };
  peek(): PromiseLike<T | undefined>;
  resolve(value: T): PromiseLike<void>;
}

/** The members that are used of the context of any handler of a Restate workflow. Declared here, so that the SDK is not a dependency. */
export interface RestateSharedContext {
  readonly date: { now(): PromiseLike<number> };
  readonly rand: { uuidv4(): string };
  promise<T>(name: string): RestateDurablePromise<T>;
}

/** The members that are used of the context of the handler `run` of a Restate workflow. */
export interface RestateRunContext<Run> extends RestateSharedContext {
  /** The id of the workflow. */
  readonly key: string;
  run(name: string, action: () => Promise<unknown>): Run;
}
