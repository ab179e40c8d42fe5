import type { WorkflowDefinition } from "../../core/definition/definition.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Event } from "../../core/snapshot/event.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { SignalToken } from "../../engine/node/typed.ts";
import type { ResumeOptions, Run, SignalOptions } from "../../runtime/handle/run.ts";
import type { StartRunOptions } from "../../runtime/handle/start-run.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { isOwnSchedule, type Ledger } from "./ledger.ts";

/** Something that a client was told has happened. */
export interface Promised {
  readonly workflowId: string;
  /** "signalling": a signal is being sent. "refused": the signal was certainly not sent. The others were acknowledged. */
  readonly what: "start" | "resume" | "signal" | "cancel" | "signalling" | "refused";
  readonly idempotencyKey?: string | undefined;
  /** True if this call had the effect, and not an earlier call with the same key. */
  readonly applied: boolean;
}

/** Is told what clients are told. */
export interface Witness {
  readonly onPromised: (promised: Promised) => void;
  /** Called if an answer was refused because it came too late. */
  readonly onExpired: (workflowId: string, timeoutAt: EpochMs) => void;
}

/** Makes a runtime that records what its clients were told. */
export function witnessed(runtime: Runtime, witness: Witness): Runtime {
  const { onPromised } = witness;
  return {
    ...runtime,
    start: (async (workflow: string | WorkflowDefinition, options?: StartRunOptions) => {
      const run = await runtime.start(workflow, options);
      onPromised({ workflowId: run.workflowId, what: "start", applied: true });
      return witnessedRun(run, witness);
    }) as Runtime["start"],
    get: (async (workflowId: string) => witnessedRun(await runtime.get(workflowId), witness)) as Runtime["get"],
  };
}

function witnessedRun(run: Run, { onPromised, onExpired }: Witness): Run {
  const { workflowId } = run;
  return {
    ...run,
    async resume(options: ResumeOptions = {}) {
      const answer = await run.resume(options).catch((error: unknown) => {
        if (StepfoldError.is(error, "WAIT_EXPIRED")) onExpired(workflowId, error.details.timeoutAt);
        throw error;
      });
      onPromised({ workflowId, what: "resume", idempotencyKey: options.idempotencyKey, applied: answer.applied });
      return answer;
    },
    async signal(name: string | SignalToken, payload?: unknown, options: SignalOptions = {}) {
      onPromised({ workflowId, what: "signalling", idempotencyKey: options.idempotencyKey, applied: false });
      const answer = await run.signal(name, payload, options).catch((error: unknown) => {
        // A signal that may have been sent in spite of the error is refused with OUTCOME_UNKNOWN.
        if (StepfoldError.is(error, "STORE_UNAVAILABLE"))
          onPromised({ workflowId, what: "refused", idempotencyKey: options.idempotencyKey, applied: false });
        throw error;
      });
      onPromised({ workflowId, what: "signal", idempotencyKey: options.idempotencyKey, applied: answer.applied });
      return answer;
    },
    async cancel(options = {}) {
      await run.cancel(options);
      // A cancellation of a part of the execution, by another option than `reason`, is not recorded.
      const isWhole = Object.values(options).every((value, i) => value === undefined || Object.keys(options)[i] === "reason");
      if (isWhole) onPromised({ workflowId, what: "cancel", applied: true });
    },
  };
}

/** I5, I6: everything that was acknowledged has happened, or a failover has lost it. I5b: no more signals came than were sent. */
export function checkPromises(ledger: Ledger, promises: readonly Promised[]): void {
  const counts = new Map<string, number>();
  const countOf = (name: string): number => counts.get(name) ?? 0;
  for (const promised of promises) {
    const { workflowId, what, idempotencyKey, applied } = promised;
    checkPromise(ledger, promised);
    if (idempotencyKey !== undefined || !(applied || what === "signalling" || what === "refused")) continue;
    counts.set(`${what} ${workflowId}`, countOf(`${what} ${workflowId}`) + 1);
  }
  for (const entry of ledger.entries.values()) {
    const { workflowId, events } = entry;
    const lostEvents = ledger.lostByFailover.get(workflowId)?.events ?? [];
    const signalled = unnamedIn(events).signalled;
    const all = unnamedIn([...events, ...lostEvents]);
    const isMissing = countOf(`resume ${workflowId}`) > all.resumed || countOf(`signal ${workflowId}`) > all.signalled;
    if (isMissing) ledger.violate("I5", "an answer or a signal was acknowledged and is not there", workflowId);
    const asked = countOf(`signalling ${workflowId}`) - countOf(`refused ${workflowId}`);
    if (signalled > asked && !isOwnSchedule(entry))
      ledger.violate("I5b", `${asked} signals were sent and not refused as not sent, and ${signalled} came`, workflowId);
  }
}

/** Counts the answers and signals without a key. */
function unnamedIn(events: readonly Event[]): { readonly resumed: number; readonly signalled: number } {
  const unnamed = events.filter((event) => !("idempotencyKey" in event) || event.idempotencyKey === undefined);
  const resumed = unnamed.filter((event) => event.type === "resumed" && event.by === "payload").length;
  return { resumed, signalled: unnamed.filter(({ type }) => type === "signalled").length };
}

/** Checks that an acknowledged call has had its effect, or that a failover has lost it. */
function checkPromise(ledger: Ledger, { workflowId, what, idempotencyKey, applied }: Promised): void {
  const entry = ledger.entries.get(workflowId);
  const lost = ledger.lostByFailover.get(workflowId);
  if (!entry) {
    if (what === "start" && !lost?.isStart) ledger.violate("I5", "a start was acknowledged and is not there", workflowId);
    return;
  }
  const events = [...entry.events, ...(lost?.events ?? [])];
  const type = what === "resume" ? "resumed" : what === "signal" ? "signalled" : null;
  if (what === "cancel") {
    const isCancelled = events.some((event) => event.type === "cancelled" && !event.pathIds && event.scope === undefined);
    if (!isCancelled) ledger.violate("I6", `a cancel was acknowledged, and it is ${entry.status}`, workflowId);
  } else if (type && idempotencyKey !== undefined) {
    const isThere = events.some((event) => event.type === type && event.idempotencyKey === idempotencyKey);
    // This call only read the effect of an earlier call that had not been
    // acknowledged yet. A failover loses such an effect without a trace.
    const wasRead = !applied && ledger.failovers > 0;
    if (!isThere && !wasRead) ledger.violate("I5", `a ${what} with key ${idempotencyKey} was acknowledged and is not there`, workflowId);
  }
}
