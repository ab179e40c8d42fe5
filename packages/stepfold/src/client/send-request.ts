import type { ClientOptions } from "./client.ts";
import type { ClientTime } from "./client-time.ts";
import { unlessAborted } from "./on-abort.ts";
import { answerText, refusal } from "./read-answer.ts";
import { connectionLost } from "./request-error.ts";

/** A request to the server. */
interface ClientRequest {
  /** The path below `/v1`, with the query. */
  readonly path: string;
  /** With a body it is a `POST`, without one a `GET`. */
  readonly body?: object | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends a request. Resolves to a response that is not a refusal; its body is still to be read.
 * @throws RequestError; the reason of the signal; what the function that gives the token throws
 */
export type RequestSender = (request: ClientRequest) => Promise<Response>;

/** Returns the function that sends all requests of a client. */
export function requestSender({ url, token, fetch: givenFetch }: ClientOptions, time: ClientTime): RequestSender {
  const base = `${url.replace(/\/$/, "")}/v1`;
  /** The token, from the first request until the server refuses it. */
  let kept: Promise<string | undefined> | undefined;

  const sendWith = async (bearer: string | undefined, { path, body, headers, signal }: ClientRequest): Promise<Response> => {
    const init: RequestInit = {
      method: body ? "POST" : "GET",
      headers: { ...(bearer && { authorization: `Bearer ${bearer}` }), ...(body && { "content-type": "application/json" }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    };
    try {
      return await (givenFetch ?? fetch)(base + path, init);
    } catch (cause) {
      signal?.throwIfAborted();
      throw connectionLost(cause);
    }
  };

  const send = async (request: ClientRequest, isRepeated: boolean): Promise<Response> => {
    kept ??= (async () => (typeof token === "function" ? token() : token))();
    const current = kept;
    const forget = (): void => {
      if (kept === current) kept = undefined;
    };
    current.catch(forget);
    const response = await sendWith(await unlessAborted(current, request.signal), request);
    if (response.ok || response.status === 304) return response;
    const error = refusal(response, await answerText(response, request.signal), time.now());
    if (error.status !== 401 || typeof token !== "function" || isRepeated) throw error;
    // other requests may have asked for a new token meanwhile
    forget();
    return send(request, true);
  };

  return (request) => send(request, false);
}
