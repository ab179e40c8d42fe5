import { type Claim, defineNode, type NodeDefinitions, type SnapshotStore, type WorkflowDefinition } from "stepfold";

/** The settings that a process gets at its start. */
export interface RateSetting {
  readonly url: string;
  readonly rateLimit: { readonly limit: number; readonly period: number };
  readonly pollMs: number;
}

/** An execution and the time of its claim, in epoch milliseconds by the store's clock. */
export type Claimed = readonly [workflowId: string, atMs: number];

export const ratedNodes: NodeDefinitions = { work: defineNode({ executor: () => ({ data: "done" }) }) };

export function ratedWorkflow(rateLimit: RateSetting["rateLimit"]): WorkflowDefinition {
  return {
    id: "rated",
    rateLimit,
    nodes: [
      { id: "first", type: "work" },
      { id: "second", type: "work" },
    ],
    edges: [{ source: "first", target: "second" }],
  };
}

export function claimedMessage(claims: readonly Claim[]): Claimed[] {
  return claims.map(({ workflowId, claimedAt }) => [workflowId, claimedAt]);
}

/** Returns a store with some methods replaced. */
export function altered(store: SnapshotStore, changes: Partial<SnapshotStore>): SnapshotStore {
  return new Proxy(store, {
    get(target, key) {
      if (Object.hasOwn(changes, key)) return changes[key as keyof SnapshotStore];
      const value: unknown = Reflect.get(target, key);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
