import { openDraft } from "../core/draft/open-draft.ts";
import { wakeAt } from "../core/draft/standing.ts";
import { StepfoldError } from "../core/errors/stepfold-error.ts";
import type { NodeDefinitions } from "../engine/node-definition.ts";
import { start } from "./commands/start-execution.ts";
import { assemble, checkCount, defaultExecutions, load } from "./context/runtime-context.ts";
import { runOf } from "./handle/run-handle.ts";
import { prune } from "./retention/prune.ts";
import type { Runtime, RuntimeOptions } from "./runtime.ts";
import { deliver } from "./worker/deliver-outbox.ts";

/**
 * Durable executions on a store.
 *
 * ```ts
 * const runtime = createRuntime({ store: sqliteStore("app.db"), workflows: [approval], nodeDefinitions });
 * const run = await runtime.start("approval", { workflowId: "post-7", input: { title: "Hello" } });
 * await run.settled(); // it waits for a review
 * await run.resume({ step: "review", payload: { approved: true } });
 * await run.result();
 * ```
 *
 * While it is open it also drives what is due and nobody holds: timers, retries, and what a crash left behind. Close it
 * before the process ends.
 *
 * @throws StepfoldError `DEFINITION_INVALID`, `OPTION_INVALID`
 */
export function createRuntime<const D extends NodeDefinitions>(options: RuntimeOptions<D>): Runtime {
  const kernel = assemble(options, deliver);
  const { store, driver, registry, lease } = kernel;
  let closing: Promise<void> | null = null;
  const requireOpen = (action: string): void => {
    if (closing) throw new StepfoldError("RUNTIME_CLOSED", { action });
  };
  if (options.drive ?? true) {
    driver.open(options.maxExecutions ?? defaultExecutions);
    kernel.retention.open();
  }
  return {
    async start(workflow, startOptions = {}) {
      requireOpen("start");
      return runOf(kernel, await start(kernel, workflow, startOptions), requireOpen);
    },
    async get(workflowId) {
      await load(kernel, workflowId);
      return runOf(kernel, workflowId, requireOpen);
    },
    async advance(workflowId) {
      requireOpen("advance");
      const askedAtMs = kernel.setting.environment.monotonicMs();
      const [claimed] = await store.claim({ ...lease, limit: 1, workflowId });
      const snapshot = claimed ? await driver.take("here", claimed, askedAtMs).snapshot : await load(kernel, workflowId);
      const { compiled } = await registry.pinned(workflowId, snapshot.definition.hash);
      return { advanced: claimed !== undefined, snapshot, wakeAt: wakeAt(openDraft(compiled, snapshot)) };
    },
    work({ concurrency = options.maxExecutions ?? defaultExecutions } = {}) {
      requireOpen("work");
      if (driver.isOpen)
        throw new StepfoldError("OPTION_INVALID", { option: "drive", reason: "must be false for a runtime that begins to work later" });
      checkCount("concurrency", concurrency);
      driver.open(concurrency);
      kernel.retention.open();
      return {
        async stop({ timeoutMs = 30_000 } = {}) {
          await Promise.all([driver.close(timeoutMs), kernel.retention.close(timeoutMs)]);
        },
      };
    },
    async prune(which) {
      requireOpen("prune");
      return prune(store, which);
    },
    close({ timeoutMs = 30_000 } = {}) {
      closing ??= Promise.all([driver.close(timeoutMs), kernel.retention.close(timeoutMs)]).then(() => undefined);
      return closing;
    },
    [Symbol.asyncDispose]() {
      return this.close();
    },
  };
}
