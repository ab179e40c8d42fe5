import type { WorkflowDefinition } from "../../core/definition/definition.ts";
import type { StoreFeatures } from "../../ports/snapshot-store.ts";
import type { StoredDefinition } from "../../ports/store-definitions.ts";

/**
 * What a caller may do. `read`: see executions without their values. `values`: see inputs, outputs, payloads and messages. `start`: start
 * executions. `answer`: answer waits and send signals, and see the payload of a wait. `operate`: cancel, retry and restart. `edit`: see and
 * change all definitions. `admin`: everything that concerns the server itself.
 */
export type ApiScope = "read" | "values" | "start" | "answer" | "operate" | "edit" | "admin";

/** Who the caller is, and what the server offers. */
export interface MeView {
  /** The name under which events record the caller. */
  readonly id: string;
  readonly scopes: readonly ApiScope[];
  /** The tenant of the caller. Null: the caller sees all executions. */
  readonly tenant: string | null;
  readonly store: { readonly name: string; readonly features: StoreFeatures };
  /** What people should know of the server at the moment, as a sentence: no code runs. Absent: nothing. */
  readonly notice?: string;
}

/** A workflow that can be started. */
export interface WorkflowView {
  readonly id: string;
  /** The hash of the definition that executions get which are started now. */
  readonly hash: string;
  readonly definition: WorkflowDefinition;
  /** Node types whose code the server's runtime lacks. */
  readonly missingTypes: readonly string[];
}

/** The workflows of the server. */
export interface WorkflowList {
  /** Those that can be started here. */
  readonly workflows: readonly WorkflowView[];
  /** The definitions in the store, the latest first. Only with the scope `edit` if the caller has a tenant. */
  readonly stored: readonly StoredDefinition[];
}

/** Whether the server and its store answer. */
export interface HealthView {
  readonly ok: boolean;
}
