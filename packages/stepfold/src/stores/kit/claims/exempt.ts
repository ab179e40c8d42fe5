import type { EpochMs } from "../../../core/values/json.ts";
import type { ExecutionGuard } from "../execution-rows.ts";
import { isDue } from "./guard.ts";

/** Returns true if an execution is due, and may be claimed without a permit: see `exemptAtOf`. */
export function isExempt(guard: ExecutionGuard, now: EpochMs, overdueMs: number): boolean {
  return guard.exemptAt !== null && guard.exemptAt <= Math.max(0, now - overdueMs) && isDue(guard, now, overdueMs);
}
