import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { JsonObject } from "../../../core/values/json.ts";
import type { BlobStore } from "../../../ports/blob-store.ts";
import { describeLocation, type Marker, type ValueCodec, type ValueLocation } from "../values/codec.ts";
import { mapConcurrently } from "../values/map-concurrently.ts";
import { rejected } from "../values/rejected.ts";
import { digestOf, segmentOf } from "./blob-key.ts";

/**
 * The most blobs that a process remembers as put, so that it does not put them again: the heads of an execution contain the same large
 * values in many commits.
 */
const maxRemembered = 1000;

/** The most blobs of one commit that are put at the same time. */
const maxInFlight = 32;

/** Makes the codec that puts large values into blobs, and reads them from there. */
export function blobCodec(blobs: BlobStore, aboveBytes: number): ValueCodec {
  const remembered = new Set<string>();
  const ask = async <T>(doing: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (cause) {
      if (StepfoldError.is(cause)) throw cause;
      throw new StepfoldError("STORE_UNAVAILABLE", { store: `blobs in ${blobs.name}`, reason: `${doing} failed` }, { cause });
    }
  };
  const put = async (bytes: Uint8Array<ArrayBuffer>, location: ValueLocation): Promise<JsonObject> => {
    const key = `${await folderOf(location)}${location.run ? `/${location.run}` : ""}/${await digestOf(bytes)}`;
    if (!remembered.has(key)) {
      await ask(`putting ${key}`, () => blobs.put(key, bytes));
      remembered.add(key);
      if (remembered.size > maxRemembered) remembered.delete(remembered.values().next().value!);
    }
    return { key, bytes: bytes.length };
  };
  /** The requests in flight, so that a blob to which an execution refers twice is fetched once. */
  const requests = new Map<string, Promise<Uint8Array | null>>();
  const get = (key: string): Promise<Uint8Array | null> => {
    const inFlight = requests.get(key);
    if (inFlight) return inFlight;
    const request = ask(`getting ${key}`, () => blobs.get(key)).finally(() => requests.delete(key));
    requests.set(key, request);
    return request;
  };

  return {
    store: "blobs",
    mark: "~stepfold/blob",
    encode: (texts, location) =>
      mapConcurrently(maxInFlight, texts, async (text) => {
        // fast path: UTF-8 needs at most 3 bytes for each UTF-16 code unit
        if (text.length <= aboveBytes / 3) return null;
        const bytes = new TextEncoder().encode(text);
        return bytes.length > aboveBytes ? put(bytes, location) : null;
      }),
    async decode(marker, location) {
      const key = await keyOf(marker, location);
      const bytes = await get(key);
      if (!bytes) throw rejected("blobs", `a value of ${describeLocation(location)} is missing: there is no blob ${key} in ${blobs.name}`);
      if (key.endsWith(`/${await digestOf(Uint8Array.from(bytes))}`)) return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
      throw rejected("blobs", `the blob ${key} in ${blobs.name} has another content than was put there`);
    },
  };
}

/** Returns the folder of the blobs of one execution, or of one definition. */
export async function folderOf({ kind, id, incarnation }: ValueLocation): Promise<string> {
  return kind === "definition"
    ? `definitions/${await segmentOf(id)}`
    : `executions/${await segmentOf(id)}/${await segmentOf(incarnation!)}`;
}

/** Reads the key in a marker. It checks the folder, so that a changed marker cannot refer to a blob of another execution. */
async function keyOf({ key }: Marker, location: ValueLocation): Promise<string> {
  const isKnown = location.kind === "definition" || location.incarnation !== null;
  const folder = isKnown ? await folderOf(location) : `executions/${await segmentOf(location.id)}`;
  if (typeof key === "string" && key.startsWith(`${folder}/`)) return key;
  throw rejected("blobs", `a value of ${describeLocation(location)} refers to a blob that is not its own`);
}
