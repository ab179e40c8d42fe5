import { ofTenant } from "../../values/ids/tenant.ts";

/** What an idempotency key is made of, besides the name of the path: the key under which a step with a `compensate` has acted. */
export interface Acted {
  /** The visit of the node. */
  readonly visit: number;
  /** The execution that has acted, as its keys begin; absent for the execution itself. It is the origin of a fork, for example. */
  readonly by?: string;
}

/** The execution that a step belongs to. */
interface Actor {
  readonly workflowId: string;
  readonly tenant?: string | undefined;
}

/** Returns the beginning of all idempotency keys of an execution: its id, with its tenant. */
function actorOf({ workflowId, tenant }: Actor): string {
  return ofTenant(tenant, `${workflowId}/`).slice(0, -1);
}

/**
 * Returns the idempotency key of a step.
 *
 * @param pathId the name of its path, with the key of the child that it is in
 */
export function stepKey(actor: Actor, pathId: string, { visit, by = actorOf(actor) }: Acted): string {
  return `${by}/${pathId}#${visit}`;
}

/** Returns the same for an execution that takes over what another one has done. */
export function actedElsewhere(acted: Acted, actor: Actor): Acted {
  return acted.by === undefined ? Object.freeze({ visit: acted.visit, by: actorOf(actor) }) : acted;
}

/** Whether two steps of one path have acted under the same key. */
export function isSameActed(one: Acted | undefined, other: Acted | undefined): boolean {
  return one?.visit === other?.visit && one?.by === other?.by;
}

/** The fields of a path of which a step under a new key begins anew. */
interface Visiting {
  readonly visit: number;
  readonly begun?: true;
  readonly acted?: Acted;
}

/** Returns a path whose step acts under another key from now on: what it has done so far, it has done under the key that is kept as `acted`. */
export function underNewKey<P extends Visiting>(
  { begun, ...path }: P,
  keptAs: (acted: Acted) => Acted = (acted) => acted,
): Omit<P, "begun"> {
  const acted = begun ? { visit: path.visit } : path.acted;
  return acted ? { ...path, acted: Object.freeze(keptAs(acted)) } : path;
}
