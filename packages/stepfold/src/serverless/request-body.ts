import { systemEnvironment } from "../environment/system-environment.ts";

/** Why a body was not read to its end. */
export type BodyRefusal = "too large" | "too slow" | "interrupted";

/** The limits of reading a body. */
export interface BodyBounds {
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

/** Reads the text of a request, or says why there is none. Reading stops once the body is too large or too slow. */
export async function readRequestBody(
  { headers, body }: Pick<Request, "headers" | "body">,
  { maxBytes, timeoutMs }: BodyBounds,
): Promise<{ readonly text: string } | { readonly refusal: BodyRefusal }> {
  if (Number(headers.get("content-length") ?? 0) > maxBytes) return { refusal: "too large" };
  if (!body) return { text: "" };
  const reader = body.getReader();
  let refusal = null as BodyRefusal | null;
  // cancelling also ends a read that is under way
  const refuse = (why: BodyRefusal): void => {
    refusal = why;
    reader.cancel().catch(() => undefined);
  };
  const endTimer = systemEnvironment.after(timeoutMs, () => refuse("too slow"));
  try {
    const decoder = new TextDecoder();
    let text = "";
    for (let bytes = 0; ; ) {
      const { done, value } = await reader.read();
      if (done) return refusal === null ? { text: text + decoder.decode() } : { refusal };
      bytes += value.byteLength;
      if (bytes > maxBytes) refuse("too large");
      else text += decoder.decode(value, { stream: true });
    }
  } catch {
    return { refusal: refusal ?? "interrupted" };
  } finally {
    endTimer();
  }
}
