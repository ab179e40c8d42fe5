import { type IncomingMessage, request as overHttp } from "node:http";
import { request as overHttps } from "node:https";
import { FatalHttpError, HttpError, isHttpError } from "./http-error.ts";
import { type HttpRequest, labelOf } from "./http-request.ts";
import { redirected, redirectTo } from "./redirect.ts";
import type { SsrfGuard } from "./ssrf-guard.ts";

/** A response, and the request that it belongs to; after a redirect this is not the first request. */
export interface Received {
  readonly response: IncomingMessage;
  readonly sent: HttpRequest;
}

/**
 * Sends a request, follows its redirects, and returns the last response. With `maxRedirects` 0 this is the first one, also if it is a
 * redirect. The body of the response is not read yet.
 */
export async function send(first: HttpRequest, guard: SsrfGuard, maxRedirects: number, signal: AbortSignal): Promise<Received> {
  let sent = first;
  let from: URL | null = null;
  for (let followed = 0; ; followed++) {
    const response = await sendOnce(sent, from, guard, signal);
    const status = response.statusCode!;
    const location = maxRedirects === 0 ? null : redirectTo(status, response.headers.location);
    if (location === null) return { response, sent };
    response.destroy();
    if (followed === maxRedirects)
      throw new FatalHttpError("HTTP_REDIRECT", `${labelOf(first)} was redirected more than ${maxRedirects} times`);
    from = sent.url;
    sent = redirected(sent, status, location);
  }
}

function sendOnce(sent: HttpRequest, from: URL | null, guard: SsrfGuard, signal: AbortSignal): Promise<IncomingMessage> {
  const { method, url, body } = sent;
  const headers = Object.fromEntries(sent.headers);
  if (body) headers["content-length"] = String(body.length);
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    guard.check(url, from);
    const request = (url.protocol === "https:" ? overHttps : overHttp)(url, {
      method,
      headers,
      lookup: guard.lookupFor(url, from),
      signal,
      // A new connection: a pooled one may have been allowed for another call, and an agent could use a proxy of the environment.
      agent: false,
    });
    request.on("response", resolve);
    request.on("error", (error) => reject(asHttpError(error, sent)));
    request.on("close", () => reject(new HttpError("HTTP_NETWORK", `${labelOf(sent)} failed: closed without an answer`)));
    request.end(body ?? undefined);
  });
}

/** Turns a failure of the network into an error that names the service and the system's code (or message) of the failure. */
export function asHttpError(error: unknown, sent: HttpRequest): Error {
  if (isHttpError(error)) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  return new HttpError("HTTP_NETWORK", `${labelOf(sent)} failed: ${code ?? message}`, { cause: error });
}
