import type { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { ListedWait } from "../../../core/transition/draft/listed-waits.ts";
import type { Json, JsonObject } from "../../../core/values/json.ts";
import type { WaitFilter } from "../../../ports/list-filters.ts";

/** The execution or the definition that a value belongs to. */
export interface ValueLocation {
  readonly kind: "execution" | "definition";
  /** The id of the execution, or the hash of the definition. */
  readonly id: string;
  /** The incarnation of the execution; null if it is not known, and for a definition. */
  readonly incarnation: string | null;
  /** Of a value that is written: the run that writes it; 0 for the first commit of an execution. */
  readonly run?: number;
}

/** The object that the inner store holds in place of a value: the codec's `mark` with the format version 1, and fields of the codec. */
export type Marker = JsonObject;

/** Turns values of users into markers for the inner store, and back. */
export interface ValueCodec {
  /** The name of the wrapping store, for errors. */
  readonly store: string;
  /** The key by which its markers are recognised. Each codec has its own. */
  readonly mark: string;
  /** True: values can be decoded only if the incarnation is known. */
  readonly needsIncarnation?: true;
  /** Makes the error for a value that is stored without a marker; `what` describes the value. Absent: such values are read. */
  readonly refusePlain?: (what: string) => StepfoldError;
  /**
   * Returns the fields of a marker for each JSON text, or null if the value stays as it is.
   *
   * @throws StepfoldError if a value cannot be stored; then nothing is written
   */
  encode(texts: readonly string[], location: ValueLocation): Promise<readonly (JsonObject | null)[]>;
  /**
   * Returns the JSON text that a marker stands for.
   *
   * @throws StepfoldError `STORE_REJECTED` if it cannot be read
   */
  decode(marker: Marker, location: ValueLocation): Promise<string>;
  /** Encodes metadata as a whole, if they must not be readable. Default: members that `list` can search stay as they are. */
  readonly metadata?: MetadataCodec;
  /** Encodes permits and rates, if their keys must not be readable. Default: scalar members stay as they are. */
  readonly permit?: PermitCodec;
  /** Encodes the listed waits, if names in them must not be readable. Default: they stay as they are. */
  readonly waits?: WaitsCodec;
}

/** Turns metadata as a whole into their stored form, and back. */
export interface MetadataCodec {
  encode(text: string, location: ValueLocation): Promise<JsonObject>;
  decode(metadata: JsonObject, location: ValueLocation): Promise<JsonObject>;
  /** Turns the searched metadata into the metadata to search in the inner store. */
  query(metadata: Readonly<Record<string, Scalar>>): Promise<Readonly<Record<string, Scalar>>>;
}

/** Turns a permit or a rate into one with another key, and back. Equal keys become equal keys. */
export interface PermitCodec {
  /** Makes the error that refuses every new execution with a permit or a rate. Absent: such executions may be created. */
  readonly refusal?: () => StepfoldError;
  encode(text: string, location: ValueLocation): Promise<JsonObject>;
  decode(permit: JsonObject, location: ValueLocation): Promise<JsonObject>;
  /** Turns a permit key into the key in the inner store; null if no execution can have it. */
  query(key: string): Promise<string | null>;
}

/** Turns listed waits into their stored form, and back. `decode` may leave out names. */
export interface WaitsCodec {
  encode(waits: readonly ListedWait[]): Promise<readonly ListedWait[]>;
  decode(waits: readonly ListedWait[]): readonly ListedWait[];
  /** Turns a filter into the filter for the inner store. */
  query(waiting: WaitFilter): Promise<WaitFilter>;
}

/** A value that `list` can search for. */
export type Scalar = string | number | boolean | null;

/** Returns true if a value is neither an object nor a list. */
export function isScalar(value: unknown): value is Scalar {
  return typeof value !== "object" || value === null;
}

/** Returns true if a value is a marker of the codec. */
export function isMarker(mark: string, value: Json): value is Marker {
  return typeof value === "object" && value !== null && Object.hasOwn(value, mark) && typeof (value as Marker)[mark] === "number";
}

/**
 * Returns true if a text stands for a marker. Only call it for messages of errors: an id or a name that begins like this is not a marker.
 */
export function isMarkedText(mark: string, text: string): boolean {
  return text.startsWith(`${mark}:`);
}

/** Describes the execution or definition of a value, for messages. */
export function describeLocation({ kind, id }: ValueLocation): string {
  return `${kind} "${id}"`;
}
