import type { NodeDefinitions } from "stepfold";
import { createRuntime, type Runtime, type SchedulesPart, type WorkQueue } from "stepfold/runtime";
import type { LoadedConfig } from "../config/config.ts";
import type { Store } from "../store/database.ts";
import { nodeDefinitionsOf } from "./session.ts";

/** Makes a runtime that commits commands and starts, but runs no steps. */
export function idleRuntime(store: Store, config: LoadedConfig, queue: WorkQueue | null = null, schedules?: SchedulesPart): Runtime {
  const { workflows = [], limits } = config;
  return createRuntime<NodeDefinitions>({
    store,
    workflows,
    nodeDefinitions: nodeDefinitionsOf(config),
    globals: {} as never,
    drive: false,
    ...(limits && { limits }),
    ...(queue && { queue }),
    ...(schedules && { schedules }),
  });
}
