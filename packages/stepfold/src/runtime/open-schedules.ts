import { StepfoldError } from "../core/errors/stepfold-error.ts";
import { scheduleWorkflowId } from "../core/values/ids/reserved-ids.ts";
import type { PreparedWorkflow } from "../engine/workflow/prepared-workflow.ts";
import { checkInput, firstNode } from "../engine/workflow/start-event.ts";
import { tenantIn } from "./callers/caller.ts";
import type { RuntimeContext } from "./context/runtime-context.ts";
import { type ScheduleHost, type SchedulesPart, toSchedule } from "./context/schedule-host.ts";
import type { Schedules } from "./context/schedules.ts";
import { commandLocally, type LocalWork, startLocally, wakeExecution } from "./local/local-work.ts";

/** The schedules of a runtime. */
export interface OpenSchedules {
  /** Returns the schedules for the caller of a context. */
  schedulesIn(context: RuntimeContext): Schedules;
  /** Creates or changes the declared schedules in the background. After an error that may pass, it tries again until that has worked. */
  declare(): void;
}

/** The delays before a declared schedule is put again after an error: the first one, and the longest one. */
const firstRetryMs = 1_000;
const maxRetryMs = 60_000;

/**
 * Opens the schedules of a runtime.
 *
 * @param part undefined if the runtime has no schedules
 * @param requireOpen throws once the runtime is closed
 */
export function openSchedules(
  context: RuntimeContext,
  local: LocalWork,
  part: SchedulesPart | undefined,
  requireOpen: (action: string) => void,
): OpenSchedules {
  if (!part) return noSchedules;
  const openIn = (scoped: RuntimeContext): ReturnType<SchedulesPart["open"]> =>
    part.open(hostOf(scoped, local, () => prepared, requireOpen));
  const { nodeDefinitions, schedules } = openIn(context);
  const prepared = context.registry.addOwn(part.workflow, nodeDefinitions);
  return {
    schedulesIn: (scoped) => (scoped === context ? schedules : openIn(scoped).schedules),
    declare() {
      for (const [name, { tenant, paused, ...spec }] of Object.entries(part.declared)) {
        const put = (delayMs: number): void => {
          schedules.put(name, spec, { tenant, paused }).catch((error: unknown) => {
            if (context.closed.aborted || StepfoldError.is(error, "RUNTIME_CLOSED")) return;
            context.onProblem(null, error);
            if (!StepfoldError.is(error) || error.retryable)
              context.environment.after(delayMs, () => put(Math.min(2 * delayMs, maxRetryMs)), { background: true });
          });
        };
        put(firstRetryMs);
      }
    },
  };
}

/** Refuses every call of a runtime without schedules. */
async function refuse(): Promise<never> {
  throw new StepfoldError("OPTION_INVALID", { option: "schedules", reason: "must be given: `schedules()` of stepfold/schedules" });
}

const noSchedules: OpenSchedules = {
  schedulesIn: () => ({
    ...{ create: refuse, put: refuse, edit: refuse, pause: refuse, resume: refuse },
    ...{ trigger: refuse, backfill: refuse, delete: refuse, describe: refuse, list: refuse },
  }),
  declare: () => undefined,
};

function hostOf(
  context: RuntimeContext,
  local: LocalWork,
  workflow: () => PreparedWorkflow,
  requireOpen: (action: string) => void,
): ScheduleHost {
  const { store, registry, clock, setting, caller } = context;
  const { by } = caller;
  return {
    limits: setting.limits,
    tenant: caller.tenant,
    now: () => clock.now(),
    newId: () => context.environment.newId(),
    problemOf(id, input) {
      try {
        const prepared = registry.current(id);
        firstNode(prepared, undefined);
        checkInput(prepared, input, setting.limits);
        return null;
      } catch (error) {
        if (StepfoldError.is(error)) return error;
        throw error;
      }
    },
    async load(workflowId) {
      const snapshot = await store.load(workflowId);
      return snapshot?.definition.id === scheduleWorkflowId ? snapshot : null;
    },
    async start(name, workflowId, input, tenant) {
      requireOpen("start");
      const options = { workflowId, input, metadata: { schedule: name }, tenant: tenantIn(caller, tenant), by };
      const { committed, wakeUp } = await startLocally(context, local, { prepared: workflow(), options, reusesId: true });
      if (!committed) await wakeExecution(context, local, wakeUp);
      return committed;
    },
    async remove(workflowId) {
      requireOpen("start");
      await store.delete(workflowId).catch((error: unknown) => {
        if (!StepfoldError.is(error, "WORKFLOW_NOT_FOUND")) throw error;
      });
    },
    async tell(workflowId, payload, idempotencyKey) {
      requireOpen("signal");
      await commandLocally(context, local, workflowId, { ...toSchedule(payload, idempotencyKey), by }, { ofSchedules: true });
    },
    async cancel(workflowId, reason) {
      requireOpen("cancel");
      await commandLocally(context, local, workflowId, { type: "cancel", reason, by }, { ofSchedules: true });
    },
    list: (query) => store.list({ ...query, definitionId: scheduleWorkflowId }),
  };
}
