import { systemEnvironment } from "../environment/system-environment.ts";

/** Why a body was not read to its end. */
export type BodyRefusal = "too large" | "too slow" | "broken off";

/** The most that is read. */
export interface BodyBounds {
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

/** The text of a request, or why there is none. Of one that is too large or too slow no more is read. */
export async function readRequestBody(
  { headers, body }: Pick<Request, "headers" | "body">,
  { maxBytes, timeoutMs }: BodyBounds,
): Promise<{ readonly text: string } | { readonly refusal: BodyRefusal }> {
  if (Number(headers.get("content-length") ?? 0) > maxBytes) return { refusal: "too large" };
  if (!body) return { text: "" };
  const reader = body.getReader();
  let refusal: BodyRefusal = "broken off";
  // a read that is under way ends with it
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
      if (done) return refusal === "broken off" ? { text: text + decoder.decode() } : { refusal };
      bytes += value.byteLength;
      if (bytes > maxBytes) refuse("too large");
      else text += decoder.decode(value, { stream: true });
    }
  } catch {
    return { refusal };
  } finally {
    endTimer();
  }
}
