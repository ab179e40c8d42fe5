import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/values/json.ts";
import { describeLocation, isScalar, type MetadataCodec } from "../values/codec.ts";
import { rejected } from "../values/rejected.ts";
import type { Cipher } from "./cipher.ts";
import type { RefusePlain } from "./refuse-plain.ts";
import type { Sign } from "./search-token.ts";

/** Encodes metadata as one encrypted value; with a search key also a token for each member that `list` can search. */
export function encryptedMetadata(mark: string, { encrypt, decrypt }: Cipher, sign: Sign | null, refusePlain: RefusePlain): MetadataCodec {
  const tokensOf = async (metadata: Readonly<Record<string, Json>>, tokenOf: Sign): Promise<Record<string, true>> => {
    const members = Object.entries(metadata).filter(([, value]) => isScalar(value));
    return Object.fromEntries((await Promise.all(members.map(tokenOf))).map((token) => [token, true]));
  };

  return {
    async encode(text, { id, incarnation }) {
      const metadata = JSON.parse(text) as JsonObject;
      // the incarnation is inside the encrypted text and not in the associated data, because not every reader knows it
      const encrypted = await encrypt(JSON.stringify([incarnation, metadata]), associatedDataOf(id));
      return { [mark]: { form: 1, ...encrypted }, ...(sign && (await tokensOf(metadata, sign))) };
    },
    async decode(stored, location) {
      const encrypted = stored[mark];
      if (!isJsonObject(encrypted) || typeof encrypted.data !== "string") {
        if (refusePlain) throw refusePlain(`${describeLocation(location)} holds "metadata"`);
        return stored;
      }
      const what = `the metadata of ${describeLocation(location)}`;
      const text = await decrypt(encrypted, associatedDataOf(location.id), what);
      const [incarnation, metadata] = JSON.parse(text) as [string, JsonObject];
      if (location.incarnation === null || location.incarnation === incarnation) return metadata;
      throw rejected("encrypted", `${what} belongs to another execution with the same id`);
    },
    async query(metadata) {
      if (sign) return tokensOf(metadata, sign);
      if (Object.keys(metadata).length === 0) return metadata;
      const reason = "cannot be searched, because it is encrypted. Pass searchKey to encryptedStore: executions created later are found";
      throw new StepfoldError("OPTION_INVALID", { option: "metadata", reason });
    },
  };
}

function associatedDataOf(workflowId: string): string {
  return JSON.stringify(["metadata", workflowId]);
}
