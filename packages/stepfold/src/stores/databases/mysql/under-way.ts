import type { Settings } from "./tables.ts";

/** The calls that a store has not answered yet. */
export interface UnderWay {
  /**
   * Runs a call once the settings are known.
   *
   * @param workflowId the calls that name one are made after what was written of it before, in the order in which they came
   */
  add<T>(work: (settings: Settings) => Promise<T>, workflowId?: string): Promise<T>;
  /** Resolves when all of them are answered. */
  idle(): Promise<void>;
}

/** Keeps calls in their order, and lets `close` wait for them. */
export function underWay(settings: () => Promise<Settings>): UnderWay {
  const calls = new Set<Promise<unknown>>();
  const lastOf = new Map<string, Promise<unknown>>();

  const keep = <T>(call: Promise<T>, workflowId: string | undefined): Promise<T> => {
    calls.add(call);
    if (workflowId !== undefined) lastOf.set(workflowId, call);
    const done = (): void => {
      calls.delete(call);
      if (workflowId !== undefined && lastOf.get(workflowId) === call) lastOf.delete(workflowId);
    };
    call.then(done, done);
    return call;
  };

  return {
    add(work, workflowId) {
      const before = workflowId === undefined ? undefined : lastOf.get(workflowId);
      const begin = before?.then(settings, settings) ?? settings();
      return keep(begin.then(work), workflowId);
    },
    async idle() {
      await Promise.allSettled(calls);
    },
  };
}
