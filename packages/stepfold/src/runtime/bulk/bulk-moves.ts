import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Status } from "../../core/snapshot/snapshot.ts";
import { anObject, refuseUnknown, requireOption } from "../../core/values/check-arguments.ts";
import type { Run } from "../handle/run.ts";
import type { BulkAction, BulkOutcome } from "./bulk.ts";

/** How an action is applied to one of many executions. */
export interface BulkMove {
  /** The statuses of executions to which the action can be applied. */
  readonly statuses: readonly Status[];
  /** Applies the action; with `dryRun` only plans it. Null: there is nothing to do. */
  do(run: Run, dryRun: boolean): Promise<Omit<BulkOutcome, "workflowId" | "status"> | null>;
}

type Of<A extends BulkAction["action"]> = Extract<BulkAction, { readonly action: A }>;

/** The statuses of executions that have not ended. */
const open: readonly Status[] = ["active", "paused", "error", "parked"];
const all: readonly Status[] = [...open, "completed", "failed", "cancelled"];

/** Returns the move for an action. @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN` */
export function moveOf(action: BulkAction): BulkMove {
  requireOption("action", action, anObject);
  switch (action.action) {
    case "cancel":
      return cancelling(action);
    case "retry":
      return retrying(action);
    case "signal":
      return signalling(action);
    case "restart":
      return restarting(action);
    case "fork":
      return forking(action);
    case "decide":
      return deciding(action);
    default: {
      const { action: unknown } = action as { readonly action: unknown };
      const reason = `must be cancel, retry, signal, restart, fork or decide, not ${typeof unknown === "string" ? JSON.stringify(unknown) : `a value of type ${typeof unknown}`}`;
      throw new StepfoldError("OPTION_INVALID", { option: "action", reason });
    }
  }
}

function cancelling(action: Of<"cancel">): BulkMove {
  refuseUnknown("cancel", action, ["action", "reason", "by"]);
  return simple(open, async (run) => {
    await run.cancel({ reason: action.reason, by: action.by });
    return { applied: true };
  });
}

function retrying(action: Of<"retry">): BulkMove {
  refuseUnknown("retry", action, ["action", "by"]);
  return simple(["error", "parked"], async (run) => {
    await run.retry({ by: action.by });
    return { applied: true };
  });
}

function signalling({ action, name, payload, ...options }: Of<"signal">): BulkMove {
  refuseUnknown(action, options, ["key", "ttl", "by", "idempotencyKey"]);
  return simple(open, (run) => run.signal(name, payload, options));
}

/** Makes a move that plans nothing: a dry run only says `planned`. */
function simple(statuses: readonly Status[], act: (run: Run) => Promise<{ readonly applied: boolean }>): BulkMove {
  return {
    statuses,
    async do(run, dryRun) {
      if (dryRun) return { outcome: "planned" };
      const { applied } = await act(run);
      return { outcome: applied ? "done" : "unchanged" };
    },
  };
}

function restarting({ action: _, ...options }: Of<"restart">): BulkMove {
  return {
    statuses: ["failed", "cancelled"],
    async do(run, dryRun) {
      const plan = await run.planRestart(options);
      if (dryRun) return { outcome: "planned", plan };
      const { applied } = await run.restart(options);
      return { outcome: applied ? "done" : "unchanged", plan };
    },
  };
}

function forking({ action, suffix, ...options }: Of<"fork">): BulkMove {
  refuseUnknown(action, options, ["node", "input", "output", "definition", "by"]);
  if (typeof suffix !== "string" || suffix === "")
    throw new StepfoldError("OPTION_INVALID", { option: "suffix", reason: "must be a text" });
  return {
    statuses: all,
    async do(run, dryRun) {
      if (run.workflowId.endsWith(`~${suffix}`) && (await isForkWith(suffix, run))) return null;
      const wanted = { ...options, workflowId: `${run.workflowId}~${suffix}` };
      const plan = await run.planFork(wanted);
      if (!dryRun) await run.fork(wanted);
      return { outcome: dryRun ? "planned" : "done", plan };
    },
  };
}

/** Whether an execution is itself a fork that an earlier call with this suffix has made. Others may have such an id too. */
async function isForkWith(suffix: string, run: Run): Promise<boolean> {
  const { from } = await run.snapshot();
  return from?.reason === "fork" && run.workflowId === `${from.workflowId}~${suffix}`;
}

/** Each incident of an execution is answered on its own. If another caller has answered one meanwhile, the others are still answered. */
function deciding({ action, decision, by, ...others }: Of<"decide">): BulkMove {
  refuseUnknown(action, others, []);
  return {
    statuses: open,
    async do(run, dryRun) {
      const incidents = (await run.waits()).filter(({ kind }) => kind === "incident");
      if (incidents.length === 0) return null;
      if (dryRun) return { outcome: "planned", incidents: incidents.map(({ address }) => address) };
      const answers = await Promise.allSettled(incidents.map(({ id }) => run.resume({ waitId: id, payload: decision, by })));
      const decided = incidents.filter((_, index) => answers[index]!.status === "fulfilled");
      const refused = answers.find((answer) => answer.status === "rejected");
      if (refused && decided.length === 0) throw refused.reason;
      return { outcome: "done", incidents: decided.map(({ address }) => address) };
    },
  };
}
