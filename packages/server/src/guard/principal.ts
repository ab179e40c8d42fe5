import type { ApiScope } from "stepfold/client";
import { isWorkflowId } from "stepfold/core";

/** Who makes a request, and what they may do. */
export interface Principal {
  /** The name under which events record what the caller does. */
  readonly id: string;
  readonly scopes: readonly ApiScope[];
  /** The tenant of the caller: no other executions exist for it. Absent: the caller sees all. */
  readonly tenant?: string | undefined;
  /**
   * From when on the credentials do not count any more, in milliseconds since 1970. A request is then answered as one with unknown credentials,
   * and a stream ends. Absent: they do not expire.
   */
  readonly expiresAt?: number | undefined;
}

/** Finds out who makes a request. Null: nobody that is known. */
export type Authenticate = (request: Request) => Principal | null | Promise<Principal | null>;

/** All scopes. */
export const allScopes: readonly ApiScope[] = ["read", "values", "start", "answer", "operate", "edit", "admin"];

/** The caller of a server without authentication, which only programs of the same machine reach. */
export const localPrincipal: Principal = { id: "local", scopes: allScopes };

/** The caller of a public route. */
export const anybody: Principal = { id: "", scopes: [] };

/**
 * Checks what a function of the host says of a caller. In a text of scopes, such as `"readonly"`, every part of it would count as a scope.
 *
 * @throws TypeError which is told to `onProblem`, because it is no fault of the caller
 */
export function checkedPrincipal(who: Principal): Principal {
  const { id, scopes, tenant, expiresAt } = who;
  const isKnown = typeof id === "string" && id !== "" && Array.isArray(scopes) && (tenant === undefined || isWorkflowId(tenant));
  if (!isKnown) throw new TypeError("`auth` must return null, or { id, scopes: [...], tenant? } with an id that is not empty");
  if (expiresAt !== undefined && (typeof expiresAt !== "number" || Number.isNaN(expiresAt)))
    throw new TypeError("`expiresAt`, which `auth` returns, must be a number of milliseconds since 1970, or absent");
  return who;
}

/** Returns true if the credentials of a caller have expired. @param now milliseconds since 1970 */
export function hasExpired({ expiresAt }: Principal, now: number): boolean {
  return expiresAt !== undefined && expiresAt <= now;
}

/** Returns the name under which a caller is counted: callers of two tenants may have the same id. */
export function callerName({ id, tenant }: Principal): string {
  return JSON.stringify([tenant ?? null, id]);
}
