import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { JsonObject } from "../../../core/values/json.ts";
import type { BlobStore } from "../../../ports/blob-store.ts";
import type { Marker, Place, ValueCodec } from "../values/codec.ts";
import { describePlace, rejected } from "../values/decode-values.ts";
import { atMost } from "../values/map-concurrently.ts";
import { segmentOf, sha256 } from "./blob-key.ts";

/** Blobs that a handle knows to be there: heads repeat their large values from commit to commit. */
const mostRemembered = 1000;

/** Blobs that are put at once for one commit. */
const mostAtOnce = 32;

/** Puts what is large into blobs, and gets it from there. */
export function blobCodec(blobs: BlobStore, aboveBytes: number): ValueCodec {
  const there = new Set<string>();
  const asked = async <T>(doing: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (cause) {
      if (StepfoldError.is(cause)) throw cause;
      throw new StepfoldError("STORE_UNAVAILABLE", { store: `blobs in ${blobs.name}`, reason: `${doing} failed` }, { cause });
    }
  };
  const put = async (bytes: Uint8Array<ArrayBuffer>, place: Place): Promise<JsonObject> => {
    const key = `${await folderOf(place)}/${await sha256(bytes)}`;
    if (!there.has(key)) {
      await asked(`putting ${key}`, () => blobs.put(key, bytes));
      there.add(key);
      if (there.size > mostRemembered) there.delete(there.values().next().value!);
    }
    return { key, bytes: bytes.length };
  };
  /** What one execution has twice is fetched once. */
  const getting = new Map<string, Promise<Uint8Array | null>>();
  const get = (key: string): Promise<Uint8Array | null> => {
    const underWay = getting.get(key);
    if (underWay) return underWay;
    const got = asked(`getting ${key}`, () => blobs.get(key)).finally(() => getting.delete(key));
    getting.set(key, got);
    return got;
  };

  return {
    store: "blobs",
    mark: "~stepfold/blob",
    seal: (texts, place) =>
      atMost(mostAtOnce, texts, async (text) => {
        if (text.length <= aboveBytes / 3) return null;
        const bytes = new TextEncoder().encode(text);
        return bytes.length > aboveBytes ? put(bytes, place) : null;
      }),
    async open(marker, place) {
      const key = await keyOf(marker, place);
      const bytes = await get(key);
      if (!bytes) throw rejected("blobs", `a value of ${describePlace(place)} is missing: there is no blob ${key} in ${blobs.name}`);
      if (key.endsWith(`/${await sha256(Uint8Array.from(bytes))}`)) return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
      throw rejected("blobs", `the blob ${key} in ${blobs.name} is not what was put there`);
    },
  };
}

/** Folder of the blobs of one execution, or of one definition. */
export async function folderOf({ kind, id, incarnation }: Place): Promise<string> {
  return kind === "definition"
    ? `definitions/${await segmentOf(id)}`
    : `executions/${await segmentOf(id)}/${await segmentOf(incarnation!)}`;
}

/** Only its own: what somebody wrote into the database must not lead to the blobs of others. */
async function keyOf({ key }: Marker, place: Place): Promise<string> {
  const folder =
    place.incarnation === null && place.kind === "execution" ? `executions/${await segmentOf(place.id)}` : await folderOf(place);
  if (typeof key === "string" && key.startsWith(`${folder}/`)) return key;
  throw rejected("blobs", `a value of ${describePlace(place)} refers to a blob that is not its own`);
}
