import type { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Json, JsonObject } from "../../../core/values/json.ts";

/** What a value belongs to. */
export interface Place {
  readonly kind: "execution" | "definition";
  /** Id of the execution, or hash of the definition. */
  readonly id: string;
  /** Of the execution; null where a store that is read does not tell. */
  readonly incarnation: string | null;
}

/** What stands for a value in the store below: the codec's `mark` with 1, the version of this form, and its own fields. */
export type Marker = JsonObject;

/** How a wrapping store keeps values. */
export interface ValueCodec {
  /** Name of the store that it is for, in errors. */
  readonly store: string;
  /** The key that tells its markers from values; no other codec's. */
  readonly mark: string;
  /** True: values can be read only if the incarnation is known. */
  readonly bound?: true;
  /**
   * Gives the fields of a marker for each JSON text, or null where the value is to stay as it is.
   *
   * @throws StepfoldError if one cannot be kept; then nothing is written
   */
  seal(texts: readonly string[], place: Place): Promise<readonly (JsonObject | null)[]>;
  /**
   * Gives the JSON text that a marker stands for.
   *
   * @throws StepfoldError `STORE_REJECTED` if it cannot be had
   */
  open(marker: Marker, place: Place): Promise<string>;
  /** How metadata is kept, where the values of `list` are not to be read. Default: whatever `list` can ask for stays as it is. */
  readonly metadata?: MetadataCodec;
  /** How a permit is kept, where its key is not to be read. Default: as it is. */
  readonly permit?: PermitCodec;
}

/** How metadata is kept as a whole. */
export interface MetadataCodec {
  seal(text: string, place: Place): Promise<JsonObject>;
  open(metadata: JsonObject, place: Place): Promise<JsonObject>;
  /** What finds it again. */
  query(metadata: Readonly<Record<string, Scalar>>): Promise<Readonly<Record<string, Scalar>>>;
}

/** How a permit is kept: with another key in the place of its own, the same for the same one. */
export interface PermitCodec {
  /** Why none may be created; absent: they may. */
  readonly refused?: () => StepfoldError;
  seal(text: string, place: Place): Promise<JsonObject>;
  open(permit: JsonObject, place: Place): Promise<JsonObject>;
  /** The other key; null if no execution can have it. */
  query(key: string): Promise<string | null>;
}

/** What `list` can ask for. */
export type Scalar = string | number | boolean | null;

/** True for everything but objects and lists. */
export function isScalar(value: unknown): value is Scalar {
  return typeof value !== "object" || value === null;
}

/** True if a codec's marker is here instead of a value. */
export function isMarker(mark: string, value: Json): value is Marker {
  return typeof value === "object" && value !== null && Object.hasOwn(value, mark) && typeof (value as Marker)[mark] === "number";
}
