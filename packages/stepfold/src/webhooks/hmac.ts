import { StepfoldError } from "../core/errors/stepfold-error.ts";

/** A secret as WebCrypto holds it. */
type Secret = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

const algorithm = { name: "HMAC", hash: "SHA-256" } as const;
/** The shortest secret, because a shorter one could be guessed. */
const minBytes = 24;
const maxBytes = 512;

/** Imports a secret. @throws StepfoldError `OPTION_INVALID` unless it has 24 to 512 bytes */
export function importSecret(option: string, secret: unknown): Promise<Secret> {
  if (!(secret instanceof Uint8Array) || secret.byteLength < minBytes || secret.byteLength > maxBytes) {
    const reason = `must be ${minBytes} to ${maxBytes} random bytes (a Uint8Array): crypto.getRandomValues(new Uint8Array(32))`;
    throw new StepfoldError("OPTION_INVALID", { option, reason });
  }
  return crypto.subtle.importKey("raw", Uint8Array.from(secret), algorithm, false, ["sign", "verify"]);
}

/** HMAC-SHA-256 of bytes. */
export async function macOf(secret: Promise<Secret>, bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.sign(algorithm.name, await secret, bytes));
}

/** Whether a MAC belongs to bytes. The time that this takes does not show how much of the MAC is right. */
export async function isMacOf(secret: Promise<Secret>, mac: Uint8Array<ArrayBuffer>, bytes: Uint8Array<ArrayBuffer>): Promise<boolean> {
  return crypto.subtle.verify(algorithm.name, await secret, mac, bytes);
}

export type { Secret };
