import { refuseUnknown } from "../../core/values/check-arguments.ts";
import type { CountQuery } from "../../ports/execution-list.ts";

const filters: readonly (keyof CountQuery)[] = [
  ...(["status", "definitionId", "metadata", "waiting", "tenant", "createdBefore", "createdAfter", "idPrefix"] as const),
];

/** Checks that `where` contains only filters, and no options of a list such as `limit`. @throws StepfoldError `OPTION_UNKNOWN` */
export function checkWhere(of: string, where: CountQuery): void {
  refuseUnknown(`where of ${of}`, where, filters);
}
