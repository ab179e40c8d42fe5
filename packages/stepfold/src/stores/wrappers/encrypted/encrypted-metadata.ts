import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/values/json.ts";
import { isScalar, type MetadataCodec } from "../values/codec.ts";
import { describePlace } from "../values/decode-values.ts";
import type { Cipher } from "./cipher.ts";
import type { Sign } from "./search-token.ts";

/** Metadata as one encrypted value, and one token for each member that `list` may ask for. */
export function sealedMetadata(mark: string, { encrypt, decrypt }: Cipher, sign: Sign | null): MetadataCodec {
  const tokensOf = async (metadata: Readonly<Record<string, Json>>, tokenOf: Sign): Promise<Record<string, true>> => {
    const members = Object.entries(metadata).filter(([, value]) => isScalar(value));
    return Object.fromEntries((await Promise.all(members.map(tokenOf))).map((token) => [token, true]));
  };

  return {
    async seal(text, { id, incarnation }) {
      const metadata = JSON.parse(text) as JsonObject;
      // a list does not tell the incarnation: it is inside
      const sealed = await encrypt(JSON.stringify([incarnation, metadata]), bondOf(id));
      return { [mark]: { form: 1, ...sealed }, ...(sign && (await tokensOf(metadata, sign))) };
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
      if (sign) return tokensOf(metadata, sign);
      if (Object.keys(metadata).length === 0) return metadata;
      const reason = "cannot be searched: it is encrypted. Pass searchKey to encryptedStore: what is created from then on is found";
      throw new StepfoldError("OPTION_INVALID", { option: "metadata", reason });
    },
  };
}

const bondOf = (workflowId: string): string => JSON.stringify(["metadata", workflowId]);
