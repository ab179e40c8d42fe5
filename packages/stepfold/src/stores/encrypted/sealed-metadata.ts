import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/values/json.ts";
import { toBase64 } from "../record/base64.ts";
import { isScalar, type MetadataCodec } from "../values/codec.ts";
import { describePlace } from "../values/open-values.ts";
import type { Cipher } from "./cipher.ts";
import { secretBytes } from "./key-ring.ts";

/** Metadata as one encrypted value, and one token for each member that `list` may ask for. */
export function sealedMetadata(mark: string, { encrypt, decrypt }: Cipher, searchKey: Uint8Array | undefined): MetadataCodec {
  const signing =
    searchKey && crypto.subtle.importKey("raw", secretBytes("searchKey", searchKey), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const tokensOf = (metadata: Readonly<Record<string, Json>>): Promise<string[]> =>
    Promise.all(
      Object.entries(metadata)
        .filter(([, value]) => isScalar(value))
        .map(async (member) => toBase64(new Uint8Array(await crypto.subtle.sign("HMAC", await signing!, utf8(member))))),
    );
  const tokens = async (metadata: Readonly<Record<string, Json>>): Promise<Record<string, true>> =>
    Object.fromEntries((await tokensOf(metadata)).map((token) => [token, true]));

  return {
    async seal(text, { id, incarnation }) {
      const metadata = JSON.parse(text) as JsonObject;
      // a list does not tell the incarnation: it is inside
      const sealed = await encrypt(JSON.stringify([incarnation, metadata]), bondOf(id));
      return { [mark]: { form: 1, ...sealed }, ...(signing && (await tokens(metadata))) };
    },
    async open(stored, place) {
      const sealed = stored[mark];
      // written before there was encryption
      if (!isJsonObject(sealed) || typeof sealed.data !== "string") return stored;
      const what = `the metadata of ${describePlace(place)}`;
      const [incarnation, metadata] = JSON.parse(await decrypt(sealed, bondOf(place.id), what)) as [string, JsonObject];
      if (place.incarnation === null || place.incarnation === incarnation) return metadata;
      throw new StepfoldError("STORE_REJECTED", { store: "encrypted", reason: `${what} is that of another execution of this id` });
    },
    async query(metadata) {
      if (signing) return tokens(metadata);
      if (Object.keys(metadata).length === 0) return metadata;
      const reason = "cannot be searched: it is encrypted. Pass searchKey to encryptedStore: what is created from then on is found";
      throw new StepfoldError("OPTION_INVALID", { option: "metadata", reason });
    },
  };
}

const bondOf = (workflowId: string): string => JSON.stringify(["metadata", workflowId]);

/** Number and text, `1` and `"1"`, differ in JSON. */
function utf8(member: readonly [key: string, value: Json]): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(member));
}
