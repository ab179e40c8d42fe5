import type { EpochMs } from "../core/values/json.ts";

/** A definition in the list of a store. */
export interface StoredDefinition {
  /** The id of the workflow. */
  readonly id: string;
  /** The hash by which `getDefinition` finds the definition. */
  readonly hash: string;
  /** When the definition was added to the list, by the store's clock: usually when it was put for the first time. */
  readonly putAt: EpochMs;
}

/** Selects definitions of the list. */
export interface DefinitionQuery {
  /** The id of a workflow: only its definitions, which are its versions. */
  readonly id?: string | undefined;
  /** The most definitions to return, 1 to 4,000; default 100. */
  readonly limit?: number | undefined;
}

/** Options of `putDefinition`. */
export interface PutDefinitionOptions {
  /**
   * The hash that `listDefinitions` shows. A store that wraps another one and keeps definitions under other hashes sets the original hash
   * here. Null: the definition is stored, but not listed. Default: the hash under which it is put.
   */
  readonly listedAs?: string | null | undefined;
}

/** The list of definitions, and which of them are published; for stores with `features.definitions`. */
export interface DefinitionLibrary {
  /**
   * Lists the definitions of the store, the newest first. The list keeps at most the last 50 versions of each workflow and at most 4,000
   * definitions in all, or fewer if the hashes of many ids begin alike. If there are more, older versions are left out first; they can
   * still be read by their hash. A definition whose id or hash is longer than 255 characters is not listed. A definition that was put at
   * the same time as very many others may be missing until it is put again.
   *
   * @throws StepfoldError `OPTION_INVALID`
   */
  listDefinitions(query?: DefinitionQuery): Promise<readonly StoredDefinition[]>;
  /**
   * Changes the published definition of the workflow `id` from `expected` to `hash`. Does not check that the store has the definition: put
   * it first. Resolves without a write if `hash` is published already, whatever `expected` is.
   *
   * @param hash null: no definition is published afterwards
   * @param expected null: no definition is published so far
   * @throws StepfoldError `LABEL_CONFLICT` if another definition than `expected` is published; nothing is written. `OPTION_INVALID`
   */
  label(id: string, hash: string | null, expected: string | null): Promise<void>;
  /**
   * Returns the hashes of published definitions by the id of the workflow. A workflow without one is left out.
   *
   * @throws StepfoldError `OPTION_INVALID` for more than 200 ids
   */
  labels(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
}
