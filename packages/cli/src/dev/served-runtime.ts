import { StepfoldError, systemEnvironment } from "stepfold";
import type { Caller, Run, Runtime, ScopedRuntime, StartRunOptions } from "stepfold/runtime";
import type { WorkerCall } from "./dev-messages.ts";
import type { WorkerProcess } from "./worker-process.ts";

/** Calls of a run that are made in the process with the code of the nodes: only there all answers can be checked. */
const forwarded = ["resume", "signal", "retry", "restart"] as const;

/**
 * Returns a runtime for the server of `stepfold dev`: it reads by itself, and passes what starts or moves executions to the process that has
 * the code. While no such process runs, this runtime commits answers and commands itself, which needs no code, and refuses starts. It commits
 * a cancellation itself too if that process does not answer.
 */
export function servedRuntime(own: Runtime, worker: WorkerProcess): Runtime {
  const scoped = (caller: Caller): ScopedRuntime => {
    const calls = own.scoped(caller);
    const wrapped = (run: Run): Run => runInWorker(run, caller, worker);
    return {
      ...calls,
      async start(workflow: unknown, options: StartRunOptions = {}) {
        // the id is made here, so that an answer of unknown outcome can name it
        const named = { ...options, workflowId: options.workflowId ?? systemEnvironment.newId() };
        const started = (await worker.call({ caller, method: "start", of: String(workflow), args: [named] })) as Pick<
          Run,
          "workflowId" | "isNew"
        >;
        return { ...wrapped(await calls.get(started.workflowId)), isNew: started.isNew };
      },
      get: (async (workflowId: string) => wrapped(await calls.get(workflowId))) as ScopedRuntime["get"],
      describe: () => worker.description ?? calls.describe(),
    };
  };
  return { ...own, scoped, describe: () => worker.description ?? own.describe() };
}

function runInWorker(run: Run, caller: Caller, worker: WorkerProcess): Run {
  const inWorker = (method: WorkerCall["method"], args: readonly unknown[]): Promise<unknown> =>
    worker.call({ caller, method, of: run.workflowId, args });
  const calls = forwarded.map((method) => {
    const own = run[method] as (...args: unknown[]) => Promise<unknown>;
    const call = (...args: unknown[]): Promise<unknown> => (worker.isReady ? inWorker(method, args) : own(...args));
    return [method, call] as const;
  });
  return {
    ...run,
    ...Object.fromEntries(calls),
    // what does not end by itself is cancelled most often, and a cancellation counts once
    async cancel(options) {
      if (!worker.isAnswering) return run.cancel(options);
      try {
        await inWorker("cancel", [options]);
      } catch (error) {
        if (!StepfoldError.is(error, "OUTCOME_UNKNOWN")) throw error;
        await run.cancel(options);
      }
    },
  };
}
