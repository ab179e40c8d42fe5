import type { EpochMs } from "../core/values/json.ts";

/** A definition that a store has. */
export interface StoredDefinition {
  /** Of the workflow. */
  readonly id: string;
  /** By this `getDefinition` finds it. */
  readonly hash: string;
  /** When it was put first, by the store's clock; of one that was put before stores listed them: when it was put again. */
  readonly putAt: EpochMs;
}

/** Which definitions. */
export interface DefinitionQuery {
  /** Only those of this workflow: its versions. */
  readonly id?: string;
  /** The most that are given, 1 to 4,000; default 100. */
  readonly limit?: number;
}

/** How a definition is put. */
export interface PutDefinitionOptions {
  /**
   * The hash under which `listDefinitions` shows it, for a store over another one that keeps definitions under hashes of its own. Null: it is not
   * shown. Default: the hash under which it is put.
   */
  readonly listedAs?: string | null;
}

/** What a store with `features.definitions` knows about its definitions. */
export interface DefinitionLibrary {
  /**
   * The definitions that the store has, those put last first: of each workflow at most the last 50, and at most 4,000 in all, or fewer
   * where many ids have a hash that begins alike. Where there are more, older versions are left out first. All can still be read by their hash. One whose
   * id or hash is longer than 255 characters is not shown. One that was put while very many others were may be missing
   * until it is put again.
   *
   * @throws StepfoldError `OPTION_INVALID`
   */
  listDefinitions(query?: DefinitionQuery): Promise<readonly StoredDefinition[]>;
  /**
   * Says which definition of a workflow is the published one, if it was `expected` until now (null: none was). Does not look whether it is
   * there: put it first. Repeating what was done is acknowledged, whatever is expected.
   *
   * @param hash null: none is any more
   * @throws StepfoldError `LABEL_CONFLICT` if another one is published; nothing is written. `OPTION_INVALID`
   */
  label(id: string, hash: string | null, expected: string | null): Promise<void>;
  /** The hash of the published definition by the id of its workflow, without those that have none. @throws StepfoldError `OPTION_INVALID` for more than 200 ids */
  labels(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
}
