import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/values/json.ts";
import { describeLocation, type PermitCodec } from "../values/codec.ts";
import type { Cipher } from "./cipher.ts";
import type { RefusePlain } from "./refuse-plain.ts";
import type { Sign } from "./search-token.ts";

/** Encodes a permit or a rate: its numbers stay readable, a token replaces its key, and the original is added as an encrypted value. */
export function encryptedPermit(mark: string, { encrypt, decrypt }: Cipher, sign: Sign | null, refusePlain: RefusePlain): PermitCodec {
  // three parts: a token of metadata has two parts, so the two never have the same token
  const tokenOf = async (key: Json): Promise<string | null> => (sign ? sign(["permit", "key", key]) : null);
  return {
    ...(!sign && { refusal }),
    async encode(text, { id, incarnation }) {
      const permit = JSON.parse(text) as JsonObject;
      const [token, encrypted] = await Promise.all([tokenOf(permit.key ?? null), encrypt(text, associatedDataOf(id, incarnation))]);
      // without a search key this is a commit of an execution that exists already, because new ones with a permit are refused. Its permit
      // may lose the key here: the inner store uses the permit of the creation
      return { limit: 1, ...permit, key: token ?? "", [mark]: { form: 1, ...encrypted } };
    },
    async decode(stored, location) {
      const encrypted = stored[mark];
      if (!isJsonObject(encrypted) || typeof encrypted.data !== "string") {
        if (refusePlain) throw refusePlain(`${describeLocation(location)} holds "permit"`);
        return stored;
      }
      const what = `the permit of ${describeLocation(location)}`;
      return JSON.parse(await decrypt(encrypted, associatedDataOf(location.id, location.incarnation), what)) as JsonObject;
    },
    query: tokenOf,
  };
}

function refusal(): StepfoldError {
  const reason = "cannot be limited by the inner store, because the key is encrypted. Pass searchKey to encryptedStore";
  return new StepfoldError("OPTION_INVALID", { option: "concurrency", reason });
}

function associatedDataOf(workflowId: string, incarnation: string | null): string {
  return JSON.stringify(["permit", workflowId, incarnation]);
}
