import type { SchedulesPart } from "../runtime/context/schedule-host.ts";
import type { CreateScheduleOptions, ScheduleSpec } from "../runtime/context/schedules.ts";
import { scheduleNode, scheduleWorkflow } from "./schedule-node.ts";
import { schedulesOn } from "./schedules-on.ts";
import { readSpec } from "./spec.ts";

/**
 * Lets a runtime have schedules: cron expressions with time zones, intervals and single ticks. Give it to every runtime of a store that
 * works: one without it leaves schedules to the others.
 *
 * ```ts
 * const nightly = { workflow: "report", cron: "0 2 * * *", zone: "Europe/Vienna" };
 * const runtime = createRuntime({ store, workflows: [report], nodeDefinitions, schedules: schedules({ nightly }) });
 * await runtime.schedules.pause("nightly");
 * ```
 *
 * @param declared schedules by name: each is made, or edited so that it says this, when a runtime begins to work. One that was deleted, or
 * has ended, stays so until it says something else
 * @throws StepfoldError `SCHEDULE_INVALID`
 */
export function schedules(declared: Readonly<Record<string, ScheduleSpec & CreateScheduleOptions>> = {}): SchedulesPart {
  for (const [name, { tenant: _, paused: __, ...spec }] of Object.entries(declared)) readSpec(name, spec);
  return {
    workflow: scheduleWorkflow,
    declared,
    open: (host) => ({ nodeDefinitions: { schedule: scheduleNode(host) }, schedules: schedulesOn(host) }),
  };
}
