import type { WorkflowDefinition } from "../../core/definition/definition.ts";
import { begin } from "../../core/draft/begin.ts";
import { closeDraft } from "../../core/draft/close-draft.ts";
import { withConsequences } from "../../core/draft/evolve.ts";
import { statusOf } from "../../core/draft/standing.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { StartedEvent } from "../../core/snapshot/event.ts";
import type { ParentLink } from "../../core/snapshot/snapshot.ts";
import { canonicalJson } from "../../core/values/canonical-json.ts";
import type { Json } from "../../core/values/json.ts";
import type { PreparedWorkflow } from "../../engine/prepared-workflow.ts";
import { type StartOptions, started } from "../../engine/started.ts";
import type { Claim, Commit } from "../../ports/snapshot-store.ts";
import { commitOf } from "../context/commit-of.ts";
import { persist } from "../context/persist.ts";
import { type Kernel, load, nudge, unavailableForMs } from "../context/runtime-context.ts";

type BeginOptions = Omit<StartOptions, "externalPayload">;

/** Starts an execution, or finds the one that was started before with the same id and input; gives its id. */
export async function start(kernel: Kernel, workflow: string | WorkflowDefinition, options: BeginOptions): Promise<string> {
  const { registry } = kernel;
  const prepared = typeof workflow === "string" ? registry.current(workflow) : registry.add(workflow);
  const { event, isNew } = await create(kernel, prepared, options);
  if (!isNew) {
    await requireSame(kernel, event);
    await nudge(kernel, event.workflowId);
  }
  return event.workflowId;
}

/** How an execution would begin, and whether it has begun. */
interface Beginning {
  readonly event: StartedEvent;
  /** False if its id is taken. */
  readonly isNew: boolean;
}

/**
 * Stores a new execution, and drives it if this process does.
 *
 * @param parent the execution that waits for it
 * @throws StepfoldError `WORKFLOW_EXISTS` if one with this id was deleted lately; `STORE_UNAVAILABLE`
 */
export async function create(kernel: Kernel, prepared: PreparedWorkflow, options: BeginOptions, parent?: ParentLink): Promise<Beginning> {
  const { store, registry, setting, changes, driver, messenger, clock } = kernel;
  const { environment, limits } = setting;
  const until = environment.monotonicMs() + unavailableForMs;
  const patiently = <T>(ask: () => Promise<T>): Promise<T> => persist(environment, () => until, ask);
  const at = await patiently(() => clock.now());
  const incarnation = environment.newId();
  const begun = started(prepared, options, { now: () => at, newId: () => environment.newId() }, limits);
  const event: StartedEvent = { ...begun, incarnation, ...(parent && { parent }) };
  if (event.permit && !store.features.permits) {
    const reason = `cannot be kept by the store "${store.name}": it does not know who is driven`;
    throw new StepfoldError("OPTION_INVALID", { option: "concurrency", reason });
  }
  const draft = begin(prepared.compiled, event);
  const write = commitOf(draft, [withConsequences(draft, event)], kernel.newCommitId());
  await patiently(() => registry.keep(prepared));
  try {
    // what goes wrong in the background is told by onProblem
    let isTold = false;
    const isDriven = await driver.begin(async (lease) => {
      let claim: Claim | null = null;
      const make = async (whole: Commit): Promise<void> => {
        claim = await patiently(() => store.create(whole, lease ? { claim: lease } : {}));
      };
      if (lease) await make(write);
      else isTold = await messenger.sendWith(draft, write, make);
      changes.tell({ workflowId: draft.workflowId, version: draft.version, status: statusOf(draft), snapshot: () => closeDraft(draft) });
      return claim && { claim, snapshot: closeDraft(draft) };
    });
    // one that needs a permit is claimed once it is there
    if (draft.permit && !isTold) await nudge(kernel, draft.workflowId, { draft, wakeAt: write.wakeAt });
    else if (!isDriven && !isTold) await messenger.send(draft, write.wakeAt);
    return { event, isNew: true };
  } catch (error) {
    if (!StepfoldError.is(error, "WORKFLOW_EXISTS") || error.details.deletedAt !== undefined) throw error;
    return { event, isNew: false };
  }
}

async function requireSame(kernel: Kernel, { workflowId, definition, input }: StartedEvent): Promise<void> {
  const existing = await load(kernel, workflowId);
  if (existing.definition.id !== definition.id) throw new StepfoldError("START_CONFLICT", { workflowId, differs: "definition" });
  if (!same(existing.input, input)) throw new StepfoldError("START_CONFLICT", { workflowId, differs: "input" });
}

function same(a: Json | undefined, b: Json | undefined): boolean {
  return a === undefined || b === undefined ? a === b : canonicalJson(a) === canonicalJson(b);
}
