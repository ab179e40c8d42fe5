import { onAbort } from "./on-abort.ts";
import { connectionLost, RequestError, unexpectedAnswer } from "./request-error.ts";

/** Longer answers are not read: they would fill the memory. */
const maxAnswerBytes = 64 * 1024 * 1024;

/**
 * Yields the bytes of an answer as they come. A reader that leaves early ends the request.
 * @throws RequestError `CONNECTION_LOST`; the reason of the signal
 */
export async function* chunksOf({ body }: Response, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array, void, undefined> {
  if (!body) return;
  const reader = body.getReader();
  // `fetch` ends a body with the signal of its request, but a body that was made in this process knows no signal
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  const release = onAbort(signal, cancel);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      signal?.throwIfAborted();
      if (done) return;
      yield value;
    }
  } catch (cause) {
    signal?.throwIfAborted();
    throw connectionLost(cause);
  } finally {
    release();
    cancel();
  }
}

/** Returns the whole text of an answer. @throws RequestError `CONNECTION_LOST`, `UNEXPECTED_ANSWER`; the reason of the signal */
export async function answerText(response: Response, signal: AbortSignal | undefined): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let lengthBytes = 0;
  for await (const chunk of chunksOf(response, signal)) {
    lengthBytes += chunk.byteLength;
    if (lengthBytes > maxAnswerBytes) throw unexpectedAnswer(response.status, text);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/**
 * Reads the answer of a request: an object, or undefined if there is none (204). What is in it is not checked.
 * @throws RequestError `CONNECTION_LOST`, `UNEXPECTED_ANSWER`; the reason of the signal
 */
export async function answerOf<T>(response: Response, signal: AbortSignal | undefined): Promise<T> {
  const answer = response.status === 204 ? undefined : objectOf(await answerText(response, signal), response.status);
  return answer as T;
}

/** Reads an object that the server has sent as JSON. @throws RequestError `UNEXPECTED_ANSWER` */
export function objectOf(text: string, status: number): object {
  const value = parsed(text);
  if (value) return value;
  throw unexpectedAnswer(status, text);
}

/** Makes the error of an answer that is a refusal. It may also come from something between the client and the server. */
export function refusal({ status, headers }: Response, text: string, now: number): RequestError {
  const retryAfterMs = delayOf(headers.get("retry-after"), now);
  const { type, title, detail, retryable, details, requestId } = (parsed(text) ?? {}) as Readonly<Record<string, unknown>>;
  const [, server, code] = /^urn:stepfold:(server-)?error:(\w+)$/.exec(textIn(type) ?? "") ?? [];
  if (!code) return unexpectedAnswer(status, text, retryAfterMs);
  return new RequestError(code, textIn(detail) ?? textIn(title) ?? code, {
    status,
    retryable: retryable === true,
    details: { ...(details as object) },
    requestId: textIn(requestId),
    retryAfterMs,
    isOfEngine: !server,
  });
}

function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value ? value : undefined;
  } catch {
    return undefined;
  }
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Reads the header `retry-after`, which is a number of seconds or a date. */
function delayOf(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  const delayMs = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now;
  return delayMs >= 0 ? delayMs : undefined;
}
