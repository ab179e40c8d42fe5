import { validateHeaderName, validateHeaderValue } from "node:http";
import { sha256 } from "../../core/values/hash/sha256.ts";
import type { HttpData } from "./http-data.ts";
import { FatalHttpError } from "./http-error.ts";

/** A request that is ready to be sent. */
export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  /** Header values by name in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer | null;
}

const safeMethods = new Set(["GET", "HEAD", "OPTIONS"]);

/** Headers that belong to the connection. Set by a workflow they could smuggle requests or reach another virtual host. */
const ownHeaders = new Set(
  "connection content-length expect host keep-alive proxy-authorization proxy-connection te trailer transfer-encoding upgrade".split(" "),
);

/** Builds the request that a node's data asks for. */
export function httpRequest(data: HttpData, idempotencyKey: string): HttpRequest {
  const { method = "GET" } = data;
  const url = readUrl(data.url);
  const query = new URLSearchParams(pairs(data.query)).toString();
  // The parameters are appended as text: writing the whole query anew would break a signature over its first part.
  if (query !== "") url.search += `${url.search === "" ? "?" : "&"}${query}`;
  const headers = new Map([
    ["accept", "*/*"],
    ["accept-encoding", "gzip, br"],
    ["user-agent", "stepfold"],
  ]);
  if (data.idempotencyKey ?? !safeMethods.has(method)) headers.set("idempotency-key", keyFor(idempotencyKey));
  const content = contentOf(data.body);
  if (content && (method === "GET" || method === "HEAD")) throw invalid(`A ${method} request cannot have a body`);
  if (content) headers.set("content-type", content.type);
  if (data.basicAuth) headers.set("authorization", basic(data.basicAuth));
  for (const [name, value] of Object.entries(data.headers ?? {})) if (value !== null) addHeader(headers, name, String(value));
  return { method, url, headers, body: content && Buffer.from(content.text) };
}

/** Returns the header value of basic authentication (RFC 7617), in UTF-8. */
function basic({ user, password }: NonNullable<HttpData["basicAuth"]>): string {
  if (user.includes(":")) throw invalid("The user of basicAuth holds a colon, which would end it");
  return `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
}

/** Returns the name of a request for errors. Path and query may hold secrets, so they are left out. */
export function labelOf({ method, url }: Pick<HttpRequest, "method" | "url">): string {
  return `${method} ${url.origin}`;
}

/** Parses a URL. @throws FatalHttpError `HTTP_REQUEST_INVALID` for a text that is no URL, or a URL that this node does not call */
export function readUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  if (!url) throw invalid("This is not a URL. Write a complete one, such as https://api.example.com/orders");
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw invalid(`The URL begins with "${url.protocol}"; only http: and https: can be called`);
  if (url.username !== "" || url.password !== "")
    throw invalid(`The URL for ${url.host} holds a user or password. Send them as basicAuth or as a header "authorization" instead`);
  return url;
}

function addHeader(headers: Map<string, string>, name: string, value: string): void {
  const key = name.toLowerCase();
  const said = name.slice(0, 100);
  if (ownHeaders.has(key)) throw invalid(`The header "${said}" is set by the node itself`);
  try {
    validateHeaderName(name);
  } catch {
    throw invalid(`${JSON.stringify(said)} cannot be the name of a header`);
  }
  try {
    validateHeaderValue(name, value);
  } catch {
    // The message does not show the value, because the value may be a secret.
    throw invalid(`The value of the header "${said}" holds a character that no header may hold, such as a line break`);
  }
  headers.set(key, value);
}

function contentOf(body: HttpData["body"]): { readonly type: string; readonly text: string } | null {
  if (!body) return null;
  if (body.form !== undefined)
    return { type: "application/x-www-form-urlencoded;charset=UTF-8", text: new URLSearchParams(pairs(body.form)).toString() };
  if (body.text !== undefined) return { type: "text/plain;charset=UTF-8", text: body.text };
  return { type: "application/json", text: JSON.stringify(body.json ?? null) };
}

function pairs(fields: HttpData["query"] = {}): [string, string][] {
  return Object.entries(fields).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : value === null ? [] : [value]).map((one): [string, string] => [name, String(one)]),
  );
}

/** Returns the key for services. It is the same for every attempt of a step, and does not show them the id of the execution. */
function keyFor(idempotencyKey: string): string {
  return sha256(idempotencyKey);
}

function invalid(message: string): FatalHttpError {
  return new FatalHttpError("HTTP_REQUEST_INVALID", message);
}
