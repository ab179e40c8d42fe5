import type { EpochMs, Json } from "../../values/json.ts";

/** The children that a step asks for. */
export interface Spawn {
  /** Name of the workflow that the children run, as in `workflows`. */
  readonly workflow: string;
  /** Input of the child, if there is only one. */
  readonly input?: Json;
  /** Instead of `input`: the items of a map. There is one child for each item, and the item is its input. */
  readonly map?: SpawnedMap;
  /** The time by which the children must have ended. */
  readonly timeoutAt?: EpochMs;
}

/** The items of a map, and how the map runs them. `MapState` describes the fields. */
export interface SpawnedMap {
  readonly items: readonly Json[];
  readonly concurrency: number;
  readonly open?: true;
  readonly completeWhen?: number;
  readonly remaining: "finish" | "cancel";
  readonly tolerated: number;
}
