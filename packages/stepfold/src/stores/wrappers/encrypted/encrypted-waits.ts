import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { ListedWait } from "../../../core/transition/draft/listed-waits.ts";
import type { WaitFilter } from "../../../ports/list-filters.ts";
import type { WaitsCodec } from "../values/codec.ts";
import type { Sign } from "./search-token.ts";

const named = ["signal", "key", "responder"] as const;

/**
 * Replaces the names of signals, keys and people in waits by tokens; without a search key they are left out. A reader of a list never gets
 * the names or tokens. Kinds, nodes and times stay readable, as in a head.
 */
export function encryptedWaits(sign: Sign | null): WaitsCodec {
  // a token of metadata is made of two parts and this one of three, so a wait and a member of metadata never have the same token
  const token = async (field: (typeof named)[number], name: string): Promise<string> => sign!(["wait", field, name]);
  return {
    encode: (waits) => Promise.all(waits.map((wait) => (sign ? encoded(wait, token) : withoutNames(wait)))),
    decode: (waits) => waits.map(withoutNames),
    async query(waiting) {
      const asked: { -readonly [K in keyof WaitFilter]: WaitFilter[K] } = { ...waiting };
      for (const field of named) {
        const name = waiting[field];
        if (name === undefined) continue;
        if (!sign) throw refusal();
        asked[field] = await token(field, name);
      }
      return asked;
    },
  };
}

async function encoded(wait: ListedWait, token: (field: (typeof named)[number], name: string) => Promise<string>): Promise<ListedWait> {
  const { signal, key, responders } = wait;
  return {
    ...withoutNames(wait),
    ...(signal !== undefined && { signal: await token("signal", signal) }),
    ...(key !== undefined && { key: await token("key", key) }),
    ...(responders && { responders: await Promise.all(responders.map((name) => token("responder", name))) }),
  };
}

function withoutNames({ kind, nodeId, openedAt }: ListedWait): ListedWait {
  return { kind, nodeId, ...(openedAt !== undefined && { openedAt }) };
}

function refusal(): StepfoldError {
  const reason =
    "cannot name a signal, a key or a person, which are encrypted. Pass searchKey to encryptedStore: waits opened after that can be found";
  return new StepfoldError("OPTION_INVALID", { option: "waiting", reason });
}
