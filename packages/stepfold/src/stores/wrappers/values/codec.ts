import type { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { ListedWait } from "../../../core/transition/draft/listed-waits.ts";
import type { Json, JsonObject } from "../../../core/values/json.ts";
import type { WaitFilter } from "../../../ports/list-filters.ts";

/** The execution or the definition that a value belongs to. */
export interface ValueLocation {
  readonly kind: "execution" | "definition";
  /** Id of the execution, or hash of the definition. */
  readonly id: string;
  /** Of the execution; null where it is not known. */
  readonly incarnation: string | null;
}

/** What the store below holds instead of a value: the codec's `mark` with 1, the version of this form, and fields of the codec. */
export type Marker = JsonObject;

/** Turns values of users into what the store below holds, and back. */
export interface ValueCodec {
  /** Name of the store that it is for, in errors. */
  readonly store: string;
  /** The key that tells its markers from values; each codec has its own. */
  readonly mark: string;
  /** True: values can be decoded only if the incarnation is known. */
  readonly needsIncarnation?: true;
  /** Gives the error for a value that no marker stands for. Absent: it is read. `what` names it and what it belongs to. */
  readonly refusePlain?: (what: string) => StepfoldError;
  /**
   * Gives the fields of a marker for each JSON text, or null where the value is to stay as it is.
   *
   * @throws StepfoldError if one cannot be stored; then nothing is written
   */
  encode(texts: readonly string[], location: ValueLocation): Promise<readonly (JsonObject | null)[]>;
  /**
   * Gives the JSON text that a marker stands for.
   *
   * @throws StepfoldError `STORE_REJECTED` if it cannot be read
   */
  decode(marker: Marker, location: ValueLocation): Promise<string>;
  /** Encodes metadata as a whole, where `list` is not to read its values. Default: members that `list` can ask for stay as they are. */
  readonly metadata?: MetadataCodec;
  /** Encodes permits, where their key is not to be read. Default: they stay as they are. */
  readonly permit?: PermitCodec;
  /** Encodes what lists find waits by, where names in it are not to be read. Default: it stays as it is. */
  readonly waits?: WaitsCodec;
}

/** Turns metadata as a whole into what the store below holds, and back. */
export interface MetadataCodec {
  encode(text: string, location: ValueLocation): Promise<JsonObject>;
  decode(metadata: JsonObject, location: ValueLocation): Promise<JsonObject>;
  /** Gives the metadata to ask the store below for. */
  query(metadata: Readonly<Record<string, Scalar>>): Promise<Readonly<Record<string, Scalar>>>;
}

/** Turns a permit into one with another key, the same for equal keys, and back. */
export interface PermitCodec {
  /** Gives the error that refuses every new execution with a permit. Absent: they may be created. */
  readonly refusal?: () => StepfoldError;
  encode(text: string, location: ValueLocation): Promise<JsonObject>;
  decode(permit: JsonObject, location: ValueLocation): Promise<JsonObject>;
  /** Gives the key to ask the store below for; null if no execution can have it. */
  query(key: string): Promise<string | null>;
}

/** Turns what lists find waits by into what the store below finds them by. Names need not come back. */
export interface WaitsCodec {
  encode(waits: readonly ListedWait[]): Promise<readonly ListedWait[]>;
  decode(waits: readonly ListedWait[]): readonly ListedWait[];
  /** Gives the waits to ask the store below for. */
  query(waiting: WaitFilter): Promise<WaitFilter>;
}

/** What `list` can ask for. */
export type Scalar = string | number | boolean | null;

/** Tells whether a value is neither an object nor a list. */
export function isScalar(value: unknown): value is Scalar {
  return typeof value !== "object" || value === null;
}

/** Tells whether a codec's marker is here instead of a value. */
export function isMarker(mark: string, value: Json): value is Marker {
  return typeof value === "object" && value !== null && Object.hasOwn(value, mark) && typeof (value as Marker)[mark] === "number";
}

/** Tells whether a text stands for a marker. Only messages of errors do: an id or a name that begins so is no marker. */
export function isMarkedText(mark: string, text: string): boolean {
  return text.startsWith(`${mark}:`);
}

/** Names what a value belongs to, for messages. */
export function describeLocation({ kind, id }: ValueLocation): string {
  return `${kind} "${id}"`;
}
