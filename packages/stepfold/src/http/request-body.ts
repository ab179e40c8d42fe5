import { exactJson } from "../core/values/exact-json.ts";
import { systemEnvironment } from "../environment/system-environment.ts";

/** Why a body was not read to its end. */
export type BodyRefusal = "too large" | "too slow" | "interrupted";

/** The HTTP status for each of these reasons. */
export const statusOfRefusal: Readonly<Record<BodyRefusal, number>> = { "too large": 413, "too slow": 408, interrupted: 400 };

/** The limits of reading a body. */
export interface BodyBounds {
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

/** The limits for what people and services send. */
export const usualBounds: BodyBounds = { maxBytes: 1024 * 1024, timeoutMs: 10_000 };

/** Reads the bytes of a request's body, or says why there are none. Reading stops once the body is too large or too slow. */
export async function readRequestBody(
  { headers, body }: Pick<Request, "headers" | "body">,
  { maxBytes, timeoutMs }: BodyBounds,
): Promise<{ readonly bytes: Uint8Array<ArrayBuffer> } | { readonly refusal: BodyRefusal }> {
  if (Number(headers.get("content-length") ?? 0) > maxBytes) return { refusal: "too large" };
  if (!body) return { bytes: new Uint8Array() };
  const reader = body.getReader();
  let refusal = null as BodyRefusal | null;
  // cancelling also ends a read that is under way
  const refuse = (why: BodyRefusal): void => {
    refusal = why;
    reader.cancel().catch(() => undefined);
  };
  const endTimer = systemEnvironment.after(timeoutMs, () => refuse("too slow"));
  try {
    const chunks: Uint8Array[] = [];
    for (let length = 0; ; ) {
      const { done, value } = await reader.read();
      if (done) return refusal === null ? { bytes: joinedBytes(chunks) } : { refusal };
      length += value.byteLength;
      if (length > maxBytes) refuse("too large");
      else chunks.push(value);
    }
  } catch {
    return { refusal: refusal ?? "interrupted" };
  } finally {
    endTimer();
  }
}

/** Joins bytes to one array. */
export function joinedBytes(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.byteLength, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.byteLength;
  }
  return all;
}

/**
 * Parses bytes as JSON in UTF-8; undefined if they are something else. Bytes that are no UTF-8 are refused and not replaced, so that two
 * different bodies are never read as the same one. A byte-order mark at the beginning is skipped. A whole number that a JavaScript number
 * cannot hold becomes text (`exactJson`).
 */
export function parsedJson(bytes: Uint8Array): { readonly value: unknown } | undefined {
  try {
    return { value: exactJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) };
  } catch {
    return undefined;
  }
}
