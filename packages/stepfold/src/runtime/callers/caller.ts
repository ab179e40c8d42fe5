import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { checkOptions, type OptionCheck } from "../../core/values/check-arguments.ts";
import { checkedName } from "../../core/values/ids/checked-name.ts";
import { isWorkflowId } from "../../core/values/ids/id.ts";
import { indexedOfTenant, ofTenant } from "../../core/values/ids/tenant.ts";
import type { CountQuery } from "../../ports/execution-list.ts";

/** For whom calls are made: for a tenant, a person or program, or both. */
export interface Caller {
  /** The tenant: text like a `workflowId`. Absent: executions of all tenants, and those without one. */
  readonly tenant?: string | undefined;
  /** Who makes the calls; their events keep it as `who`. */
  readonly by?: string | undefined;
}

const aTenant: OptionCheck = (value) =>
  isWorkflowId(value) ? null : "must be text of 1 to 255 printable characters, without space at the ends";
const aName: OptionCheck = (value) => {
  checkedName("by", value);
  return null;
};

/** @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN` */
export function checkCaller(caller: Caller): void {
  checkOptions<Caller>("runtime.scoped", caller, { tenant: aTenant, by: aName });
}

/** Returns who makes a call. @throws StepfoldError `OPTION_INVALID` if the call names somebody else */
export function byIn({ by }: Caller, given: string | undefined): string | undefined {
  return inScope("by", by, given);
}

/** Returns the tenant of what a call makes or asks for. @throws StepfoldError `OPTION_INVALID` if it is another one than that of the caller */
export function tenantIn({ tenant }: Caller, given: string | undefined): string | undefined {
  return inScope("tenant", tenant, given);
}

function inScope(option: "tenant" | "by", own: string | undefined, given: string | undefined): string | undefined {
  if (own === undefined || given === undefined || given === own) return own ?? given;
  throw new StepfoldError("OPTION_INVALID", { option, reason: `must be "${own}" or absent: the runtime was made for it with \`scoped\`` });
}

/** Returns the id of an execution that a call makes. With a tenant it is one of the tenant's, so that no other can have or take it. */
export function idIn({ tenant }: Caller, given: string): string {
  // what is no id is refused later
  return tenant !== undefined && isWorkflowId(given) ? indexedOfTenant(tenant, given) : given;
}

/** Returns the ids that an execution may have which a call names: that of its tenant, and the one that it got from a call without a tenant. */
export function idsIn(caller: Caller, given: string): readonly string[] {
  return [...new Set([idIn(caller, given), given])];
}

/** Returns a query for executions of the caller's tenant. @throws StepfoldError `OPTION_INVALID` if it names another one */
export function queryIn<Q extends CountQuery>(caller: Caller, query: Q): Q {
  const { tenant } = caller;
  if (tenant === undefined || typeof query !== "object") return query;
  tenantIn(caller, query.tenant);
  return typeof query.idPrefix === "string" ? { ...query, idPrefix: ofTenant(tenant, query.idPrefix) } : query;
}
