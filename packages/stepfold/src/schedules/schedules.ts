import { anObject, requireOption } from "../core/values/check-arguments.ts";
import type { SchedulesPart } from "../runtime/context/schedule-host.ts";
import type { CreateScheduleOptions, ScheduleSpec } from "../runtime/context/schedules.ts";
import { scheduleNode, scheduleWorkflow } from "./schedule-node.ts";
import { schedulesOn } from "./schedules-on.ts";
import { readSpec } from "./spec.ts";

/**
 * Adds schedules to a runtime: cron expressions with time zones, intervals and single ticks. Give it to every runtime that works on the
 * same store: a runtime without it leaves schedules to the others.
 *
 * ```ts
 * const nightly = { workflow: "report", cron: "0 2 * * *", zone: "Europe/Vienna" };
 * const runtime = createRuntime({ store, workflows: [report], nodeDefinitions, schedules: schedules({ nightly }) });
 * await runtime.schedules.pause("nightly");
 * ```
 *
 * @param declared schedules by name. When a runtime begins to work, each of them is created, or edited to match its declaration. A schedule
 * that was deleted or has ended stays so until its declaration changes
 * @throws StepfoldError `SCHEDULE_INVALID`
 */
export function schedules(declared: Readonly<Record<string, ScheduleSpec & CreateScheduleOptions>> = {}): SchedulesPart {
  requireOption("schedules", declared, anObject);
  for (const [name, one] of Object.entries(declared)) {
    requireOption(`schedules.${name}`, one, anObject);
    const { tenant: _, paused: __, ...spec } = one;
    readSpec(name, spec);
  }
  return {
    workflow: scheduleWorkflow,
    declared,
    open: (host) => ({ nodeDefinitions: { schedule: scheduleNode(host) }, schedules: schedulesOn(host) }),
  };
}
