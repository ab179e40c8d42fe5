import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { StartedEvent } from "../../../core/snapshot/event.ts";
import type { Json, JsonObject } from "../../../core/values/json.ts";
import { isMarker, isScalar, type Marker, type Place, type ValueCodec } from "./codec.ts";
import { atMost } from "./map-concurrently.ts";

/** Values that are fetched or decrypted at once for one execution. */
const mostAtOnce = 32;

/**
 * Puts back the values that markers stand for, wherever they are in what a store gave. Metadata and permits are not for
 * this: see `openWhole`.
 *
 * @throws StepfoldError `STORE_REJECTED` if one cannot be had
 */
export async function openValues<T>(codec: ValueCodec, stored: T, place: Place): Promise<T> {
  const markers: Marker[] = [];
  walk(codec, stored as Json, "", (marker) => {
    markers.push(marker);
    return null;
  });
  if (markers.length === 0) return stored;
  const values = await atMost(mostAtOnce, markers, (marker) => opened(codec, marker, place));
  let next = 0;
  return walk(codec, stored as Json, "", () => values[next++]!) as T;
}

/** Metadata as its user gave it. */
export async function openMetadata(codec: ValueCodec, metadata: JsonObject, place: Place): Promise<JsonObject> {
  if (codec.metadata) return codec.metadata.open(metadata, place);
  const entries = Object.entries(metadata);
  if (entries.every(([, value]) => isScalar(value))) return metadata;
  const opened = await openValues(
    codec,
    entries.map(([, value]) => (isScalar(value) ? null : value)),
    place,
  );
  return Object.fromEntries(entries.map(([key, value], index) => [key, isScalar(value) ? value : opened[index]!]));
}

/** A snapshot, or the first event, with all that is in it. */
export async function openWhole<T extends Pick<StartedEvent, "metadata" | "permit">>(
  codec: ValueCodec,
  stored: T,
  place: Place,
): Promise<T> {
  const [opened, metadata] = await Promise.all([
    openValues<T>(codec, { ...stored, metadata: {} }, place),
    openMetadata(codec, stored.metadata as JsonObject, place),
  ]);
  const { permit } = opened;
  if (!permit || !codec.permit) return { ...opened, metadata };
  return { ...opened, metadata, permit: await codec.permit.open(permit as unknown as JsonObject, place) };
}

async function opened(codec: ValueCodec, marker: Marker, place: Place): Promise<Json> {
  const { [codec.mark]: form, json } = marker;
  if (form !== 1) throw rejected(codec.store, `a value of ${describePlace(place)} has a form that this version of Stepfold does not know`);
  const text = typeof json === "string" ? json : await codec.open(marker, place);
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    throw rejected(codec.store, `a value of ${describePlace(place)} is damaged`, cause);
  }
}

/** An error in what was stored. */
export function rejected(store: string, reason: string, cause?: unknown): StepfoldError {
  return new StepfoldError("STORE_REJECTED", { store, reason }, { cause });
}

/** What a value belongs to, for people. */
export function describePlace({ kind, id }: Place): string {
  return `${kind} "${id}"`;
}

type Named = Pick<ValueCodec, "mark" | "store">;

/** The same value with every marker replaced; markers come in the order of the text. */
function walk({ mark, store }: Named, value: Json, key: string, replace: (marker: Marker) => Json): Json {
  if (typeof value === "string") return isMarkedText(mark, value, key) ? replace(markerIn({ mark, store }, value)) : value;
  if (typeof value !== "object" || value === null) return value;
  if (isMarker(mark, value)) return replace(value);
  if (Array.isArray(value)) return value.map((member: Json) => walk({ mark, store }, member, "", replace));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, walk({ mark, store }, member, name, replace)]));
}

/** Only messages of errors have to stay text; ids and names that begin so are just that. */
function isMarkedText(mark: string, text: string, key: string): boolean {
  return (key === "message" || key === "error") && text.startsWith(`${mark}:`);
}

function markerIn({ mark, store }: Named, text: string): Marker {
  try {
    return JSON.parse(text.slice(mark.length + 1)) as Marker;
  } catch (cause) {
    throw rejected(store, "the message of an error is damaged", cause);
  }
}
