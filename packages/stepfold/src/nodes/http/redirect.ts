import { FatalHttpError, isHttpError } from "./http-error.ts";
import { type HttpRequest, labelOf, readUrl } from "./http-request.ts";

const redirects = new Set([301, 302, 303, 307, 308]);

/** The only headers that are sent to another origin: any other header may be a credential, whatever its name is. */
const harmless = new Set(["accept", "accept-encoding", "accept-language", "content-language", "content-type", "user-agent"]);

/** Returns the location of a redirect; null if the response is no redirect or names no location. */
export function redirectTo(status: number, location: string | undefined): string | null {
  return redirects.has(status) && location !== undefined ? location : null;
}

/**
 * Returns the request that follows a redirect, as browsers do it: after a 303 (except of a HEAD), and after a 301 or 302 of a POST, it
 * is a GET without a body. Another origin (scheme, host or port) gets no body and no header that could be a credential.
 *
 * @throws FatalHttpError `HTTP_REDIRECT` if the location must not be called, or if another origin would get the body
 */
export function redirected(before: HttpRequest, status: number, location: string): HttpRequest {
  const url = target(before, location);
  const { method } = before;
  const toGet = status === 303 ? method !== "HEAD" : (status === 301 || status === 302) && method === "POST";
  const sameOrigin = url.origin === before.url.origin;
  if (!sameOrigin && !toGet && before.body) {
    const what = `${labelOf(before)} was redirected with its body to another origin, ${url.origin}`;
    throw new FatalHttpError("HTTP_REDIRECT", `${what}: the body is not sent there. Call that origin directly if it should get the body`);
  }
  const headers = new Map([...before.headers].filter(([name]) => (sameOrigin || harmless.has(name)) && !(toGet && dropped(name))));
  return toGet ? { method: "GET", url, headers, body: null } : { method, url, headers, body: before.body };
}

function dropped(header: string): boolean {
  return header.startsWith("content-") || header === "idempotency-key";
}

function target(before: HttpRequest, location: string): URL {
  try {
    return readUrl(location, before.url);
  } catch (error) {
    if (!isHttpError(error)) throw error;
    throw new FatalHttpError("HTTP_REDIRECT", `${labelOf(before)} was redirected to a URL that cannot be called. ${error.message}`);
  }
}
