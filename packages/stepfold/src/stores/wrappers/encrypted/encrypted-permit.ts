import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/values/json.ts";
import type { PermitCodec } from "../values/codec.ts";
import { describePlace } from "../values/decode-values.ts";
import type { Cipher } from "./cipher.ts";
import type { Sign } from "./search-token.ts";

/** A permit as an encrypted value, with its limit and a token instead of the key. */
export function sealedPermit(mark: string, { encrypt, decrypt }: Cipher, sign: Sign | null): PermitCodec {
  // no member of metadata is signed as this
  const tokenOf = async (key: Json): Promise<string | null> => (sign ? sign(["permit", "key", key]) : null);
  return {
    ...(!sign && { refused }),
    async seal(text, { id, incarnation }) {
      const permit = JSON.parse(text) as JsonObject;
      const [token, sealed] = await Promise.all([tokenOf(permit.key ?? null), encrypt(text, bondOf(id, incarnation))]);
      // without a token it was created before there was encryption: stores go by what they were given then
      return { key: token ?? "", limit: permit.limit ?? 1, [mark]: { form: 1, ...sealed } };
    },
    async open(stored, place) {
      const sealed = stored[mark];
      // written before there was encryption
      if (!isJsonObject(sealed) || typeof sealed.data !== "string") return stored;
      const text = await decrypt(sealed, bondOf(place.id, place.incarnation), `the permit of ${describePlace(place)}`);
      return JSON.parse(text) as JsonObject;
    },
    query: tokenOf,
  };
}

function refused(): StepfoldError {
  const reason = "cannot be told to the store below: the key is encrypted. Pass searchKey to encryptedStore";
  return new StepfoldError("OPTION_INVALID", { option: "concurrency", reason });
}

const bondOf = (workflowId: string, incarnation: string | null): string => JSON.stringify(["permit", workflowId, incarnation]);
