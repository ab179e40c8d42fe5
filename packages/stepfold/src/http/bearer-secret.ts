import { StepfoldError } from "../core/errors/stepfold-error.ts";
import { sha256 } from "../core/values/hash/sha256.ts";

/** Shorter secrets can be guessed. */
const minLength = 16;
/** Longer secrets are refused, because hashing them takes time. */
const maxLength = 1_024;
/** The characters that a header can transport. */
const goodSecret = new RegExp(`^[!-~]{${minLength},${maxLength}}$`);

/** Tells whether an `Authorization` header contains the secret. */
export type SecretCheck = (authorization: string | null) => boolean;

/** Makes the check for one secret or several. @throws StepfoldError `OPTION_INVALID` */
export function secretCheck(secret: string | readonly string[]): SecretCheck {
  const secrets: readonly unknown[] = typeof secret === "string" ? [secret] : Array.isArray(secret) ? secret : [];
  const isGood = (one: unknown): one is string => typeof one === "string" && goodSecret.test(one);
  if (secrets.length === 0 || !secrets.every(isGood)) {
    const reason = `must be ${minLength} to ${maxLength} ASCII characters without a space, or a list of such`;
    throw new StepfoldError("OPTION_INVALID", { option: "secret", reason });
  }
  const digests = secrets.map(sha256);
  return (authorization) => {
    const given = /^Bearer +(\S+) *$/i.exec((authorization ?? "").slice(0, maxLength + 16))?.[1] ?? "";
    const digest = sha256(given);
    let isRight = false;
    // every secret is compared completely, so that the time does not show how much was right
    for (const expected of digests) isRight = areEqual(expected, digest) || isRight;
    return isRight;
  };
}

/** Whether two digests are the same, in a time that depends on neither. */
function areEqual(expected: string, given: string): boolean {
  let difference = expected.length ^ given.length;
  for (let i = 0; i < expected.length; i++) difference |= expected.charCodeAt(i) ^ given.charCodeAt(i);
  return difference === 0;
}
