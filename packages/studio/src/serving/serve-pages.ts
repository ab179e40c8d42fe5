import type { PageFile } from "./page-file.ts";

const indexPath = "/index.html";
/** The paths of the app: the page itself decides what it shows. Ids are one segment, see `idInPath` of `stepfold/client`. */
const appPath = /^\/(?:executions(?:\/[^/]*)?)?$/;

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const securityHeaders: Readonly<Record<string, string>> = {
  "content-security-policy": policy,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

/** Answers a request for a page or one of its files; null for everything else. */
export async function servePage(request: Request, files: ReadonlyMap<string, PageFile>): Promise<Response | null> {
  if (request.method !== "GET" && request.method !== "HEAD") return null;
  const { pathname } = new URL(request.url);
  const isApp = appPath.test(pathname);
  // the page is answered under the paths of the app only, so it has one address
  const file = pathname === indexPath ? undefined : files.get(isApp ? indexPath : pathname);
  if (!file) return null;
  const compressed = acceptsGzip(request) ? await file.compressed() : null;
  const content = compressed ?? file.content;
  const headers = {
    ...securityHeaders,
    "content-type": file.mediaType,
    "content-length": String(content.byteLength),
    // the names of assets change with their content
    "cache-control": pathname.startsWith("/assets/") ? "public, max-age=31536000, immutable" : "no-store",
    vary: "accept-encoding",
    ...(compressed && { "content-encoding": "gzip" }),
  };
  return new Response(request.method === "HEAD" ? null : content, { headers });
}

function acceptsGzip({ headers }: Request): boolean {
  return (headers.get("accept-encoding") ?? "").split(",").some((entry) => /^\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(entry));
}
