import type { StartedEvent } from "../../../core/snapshot/event.ts";
import type { Json, JsonObject } from "../../../core/values/json.ts";
import { describeLocation, isMarkedText, isMarker, type Marker, type ValueCodec, type ValueLocation } from "./codec.ts";
import { mapConcurrently } from "./map-concurrently.ts";
import { rejected } from "./rejected.ts";

/** The most values of one execution that are fetched or decrypted at the same time. */
const maxInFlight = 32;

/**
 * Replaces every marker in stored data by its value. Metadata and permits need `decodeWithMetadata`.
 *
 * @throws StepfoldError `STORE_REJECTED` if a value cannot be read
 */
export async function decodeValues<T>(codec: ValueCodec, stored: T, location: ValueLocation): Promise<T> {
  const markers: Marker[] = [];
  replaceMarkers(codec, stored as Json, "", (marker) => {
    markers.push(marker);
    return null;
  });
  if (markers.length === 0) return stored;
  const values = await mapConcurrently(maxInFlight, markers, (marker) => decodeMarker(codec, marker, location));
  let next = 0;
  return replaceMarkers(codec, stored as Json, "", () => values[next++]!) as T;
}

/** Decodes stored metadata. */
export async function decodeMetadata(codec: ValueCodec, metadata: JsonObject, location: ValueLocation): Promise<JsonObject> {
  if (codec.metadata) return codec.metadata.decode(metadata, location);
  // decoded as a list, so that a member with the key `message` is not treated as the message of an error
  const values = await decodeValues(codec, Object.values(metadata), location);
  return Object.fromEntries(Object.keys(metadata).map((key, index) => [key, values[index]!]));
}

/** Decodes a snapshot, a head or an event with metadata: all values in it, its metadata, its permit and its rate. */
export async function decodeWithMetadata<T extends Pick<StartedEvent, "metadata" | "permit" | "rate">>(
  codec: ValueCodec,
  stored: T,
  location: ValueLocation,
): Promise<T> {
  const [decoded, metadata] = await Promise.all([
    decodeValues<T>(codec, { ...stored, metadata: {} }, location),
    decodeMetadata(codec, stored.metadata as JsonObject, location),
  ]);
  const keys: Record<string, JsonObject> = {};
  for (const name of ["permit", "rate"] as const) {
    const stored = decoded[name] as unknown as JsonObject | undefined;
    if (stored && codec.permit) keys[name] = await codec.permit.decode(stored, location);
  }
  return { ...decoded, metadata, ...keys };
}

async function decodeMarker(codec: ValueCodec, marker: Marker, location: ValueLocation): Promise<Json> {
  const { [codec.mark]: form, json } = marker;
  const what = `a value of ${describeLocation(location)}`;
  if (form !== 1) throw rejected(codec.store, `${what} has a form that this version of Stepfold does not know`);
  if (typeof json === "string" && codec.refusePlain) throw codec.refusePlain(`${describeLocation(location)} holds a value`);
  const text = typeof json === "string" ? json : await codec.decode(marker, location);
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    throw rejected(codec.store, `${what} is damaged`, cause);
  }
}

type MarkerSource = Pick<ValueCodec, "mark" | "store">;

/** Copies a value and replaces every marker. `replace` is called for the markers in the order of the JSON text. */
function replaceMarkers(codec: MarkerSource, value: Json, key: string, replace: (marker: Marker) => Json): Json {
  if (typeof value === "string") return isText(key) && isMarkedText(codec.mark, value) ? replace(markerInText(codec, value)) : value;
  if (typeof value !== "object" || value === null) return value;
  if (isMarker(codec.mark, value)) return replace(value);
  if (Array.isArray(value)) return value.map((member: Json) => replaceMarkers(codec, member, "", replace));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, replaceMarkers(codec, member, name, replace)]));
}

/** Returns true for the keys under which an error message may be a marker in the form of a text. */
function isText(key: string): boolean {
  return key === "message" || key === "error";
}

function markerInText({ mark, store }: MarkerSource, text: string): Marker {
  try {
    return JSON.parse(text.slice(mark.length + 1)) as Marker;
  } catch (cause) {
    throw rejected(store, "the message of an error is damaged", cause);
  }
}
