import type { StoreFeatures } from "../../../src/ports/snapshot-store.ts";

/** The result of a case of the contract in workerd. */
export interface CaseReport {
  readonly features: StoreFeatures;
  readonly isClaimed: boolean;
  /** Null if the case passed or was left out. */
  readonly failure: { readonly name: string; readonly message: string; readonly stack: string } | null;
}
