import { StepfoldError, systemEnvironment } from "stepfold";
import { isWorkflowId } from "stepfold/core";
import { type Authenticate, allScopes, hasExpired, type Principal } from "./principal.ts";

/** A token that callers send as `Authorization: Bearer ...`. The server knows only its hash. */
export interface Token {
  /** SHA-256 of the token, as 64 hexadecimal digits. */
  readonly sha256: string;
  /** The name of its owner, which events record. */
  readonly name: string;
  readonly scopes: Principal["scopes"];
  /** The tenant of its owner. Default: none, so the owner sees all executions. */
  readonly tenant?: string | undefined;
  /** From when on it does not count: ISO 8601 with an offset, or milliseconds since 1970. Default: never. */
  readonly expires?: string | number | undefined;
}

/** A longer text is no token, and is not hashed. */
const maxTokenLength = 1_024;
const tokenForm = new RegExp(`^Bearer +([!-~]{16,${maxTokenLength}}) *$`, "i");

/**
 * Makes the check of bearer tokens.
 *
 * ```ts
 * import { createHash } from "node:crypto";
 * import { createServer, tokens } from "@stepfold/server";
 *
 * const sha256 = createHash("sha256").update(process.env.SUPPORT_TOKEN!).digest("hex");
 * const auth = tokens([{ sha256, name: "support", scopes: ["read", "values", "answer"], expires: "2027-01-01T00:00:00Z" }]);
 * const server = createServer({ runtime, store, auth });
 * ```
 *
 * Make tokens of at least 16 characters from a random generator: a hash does not protect what can be guessed. The given token is compared
 * with every token of the list, in a time that does not tell how much of it was right.
 *
 * @param now the clock that judges `expires`, in milliseconds since 1970. Default: that of this process
 * @throws StepfoldError `OPTION_INVALID`
 */
export function tokens(list: readonly Token[], now: () => number = () => systemEnvironment.now()): Authenticate {
  if (!Array.isArray(list) || list.length === 0) throw invalid("tokens", "must be a list of at least one token");
  const known = list.map((token, index) => knownToken(token, `tokens[${index}]`));
  return async (request) => {
    const given = tokenForm.exec((request.headers.get("authorization") ?? "").slice(0, maxTokenLength + 32))?.[1];
    if (given === undefined) return null;
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(given)));
    let found: Principal | null = null;
    for (const { principal, digest: expected } of known) if (areEqual(expected, digest)) found = principal;
    return found && !hasExpired(found, now()) ? found : null;
  };
}

function knownToken(token: Token, option: string): { readonly digest: Uint8Array; readonly principal: Principal } {
  const { sha256, name, scopes, tenant, expires } = token ?? {};
  if (typeof sha256 !== "string" || !/^[0-9a-f]{64}$/i.test(sha256))
    throw invalid(`${option}.sha256`, "must be the SHA-256 of the token as 64 hexadecimal digits");
  if (typeof name !== "string" || name === "" || name.length > 200) throw invalid(`${option}.name`, "must be text of 1 to 200 characters");
  if (!Array.isArray(scopes) || !scopes.every((scope) => allScopes.includes(scope)))
    throw invalid(`${option}.scopes`, `must be a list of ${allScopes.join(", ")}`);
  if (tenant !== undefined && !isWorkflowId(tenant))
    throw invalid(`${option}.tenant`, "must be text of 1 to 255 printable characters, without space at the ends");
  const expiresAt = expires === undefined ? undefined : typeof expires === "number" ? expires : timeOf(expires, `${option}.expires`);
  const digest = Uint8Array.from(sha256.match(/../g)!, (pair) => Number.parseInt(pair, 16));
  return { digest, principal: { id: name, scopes: [...scopes], tenant, expiresAt } };
}

function timeOf(text: string, option: string): number {
  const time = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw invalid(option, "must be a time in ISO 8601 with an offset, or milliseconds since 1970");
  return time;
}

/** Whether two digests are the same, in a time that depends on neither. */
function areEqual(expected: Uint8Array, given: Uint8Array): boolean {
  let difference = 0;
  for (let at = 0; at < expected.length; at++) difference |= expected[at]! ^ given[at]!;
  return difference === 0;
}

function invalid(option: string, reason: string): StepfoldError {
  return new StepfoldError("OPTION_INVALID", { option, reason });
}
