import { RefusedRequest } from "./problem.ts";

/** Names of this machine, under which a server that listens on loopback is always reached. */
const loopbackNames: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** Which names a server answers under, and which pages of other origins may call it. */
export interface OriginRules {
  /** Names without a port, such as `studio.example.com`; those of loopback always count. */
  readonly hosts: readonly string[];
  /** Origins such as `https://app.example.com`. */
  readonly origins: readonly string[];
}

/**
 * Refuses requests that were sent to another name, so that a page cannot reach a local server by a name that it makes point there (DNS
 * rebinding); and requests of pages from elsewhere.
 *
 * @returns the origin that may read the answer; null if the request is of the server's own pages or of no page
 * @throws RefusedRequest `HOST_REFUSED`, `FORBIDDEN`
 */
export function checkOrigin(request: Request, { hosts, origins }: OriginRules): string | null {
  const host = (request.headers.get("host") ?? new URL(request.url).host).toLowerCase();
  const name = host.replace(/:\d{1,5}$/, "");
  if (!loopbackNames.includes(name) && !hosts.includes(name))
    throw new RefusedRequest("HOST_REFUSED", "This name is not in the option `hosts` of the server.");
  const origin = request.headers.get("origin");
  if (origin === null || hostOf(origin) === host) return null;
  if (origins.includes(origin)) return origin;
  throw new RefusedRequest("FORBIDDEN", "Pages of this origin may not call the server: it is not in the option `cors.origins`.");
}

function hostOf(origin: string): string | null {
  try {
    return new URL(origin).host;
  } catch {
    return null;
  }
}

/** Returns the headers that let a page of another origin read an answer. */
export function corsHeaders(origin: string | null): Readonly<Record<string, string>> {
  if (origin === null) return {};
  return {
    "access-control-allow-origin": origin,
    "access-control-expose-headers": "etag, location, retry-after, x-request-id",
    vary: "origin",
  };
}

/** Returns the answer to the question of a browser whether a page may send a request. */
export function preflight(origin: string | null): Response {
  return new Response(null, {
    status: 204,
    headers: {
      ...corsHeaders(origin),
      "access-control-allow-methods": "GET, POST",
      "access-control-allow-headers": "authorization, content-type, if-none-match, idempotency-key, last-event-id",
      "access-control-max-age": "600",
    },
  });
}
