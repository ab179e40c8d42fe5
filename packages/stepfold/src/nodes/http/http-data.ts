import type { Duration } from "../../core/values/duration.ts";
import type { Json, JsonObject, JsonSchema } from "../../core/values/json.ts";

type Scalar = string | number | boolean;
type Fields = Readonly<Record<string, Scalar | null | readonly Scalar[]>>;

/** What an `http` node is given. */
export interface HttpData {
  readonly url: string;
  readonly method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS" | undefined;
  readonly headers?: Readonly<Record<string, Scalar | null>> | undefined;
  /** Basic authentication. Take both from `globals`: what a definition holds is stored with it. */
  readonly basicAuth?: { readonly user: string; readonly password: string } | undefined;
  /** Added to what the URL has. A list gives its name several times, null leaves it out. */
  readonly query?: Fields | undefined;
  /** Exactly one of the three. */
  readonly body?: { readonly json?: Json; readonly text?: string; readonly form?: Fields } | undefined;
  readonly timeout?: Duration | undefined;
  readonly maxBytes?: number | undefined;
  readonly retriableCodes?: readonly number[] | undefined;
  readonly response?: "auto" | "json" | "text" | "base64" | undefined;
  readonly followRedirects?: number | undefined;
  readonly idempotencyKey?: boolean | undefined;
}

/** What a call gave. */
export interface HttpAnswer {
  readonly status: number;
  /** By name in lower case, without `set-cookie`; what came several times is joined with a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
}

/** Redirects that a call follows at most, and by default. */
export const maxRedirects = 5;

/** Answers that are worth another attempt, where the data does not say. */
export const defaultRetriableCodes: readonly number[] = [500, 502, 503, 504];

const scalar: JsonObject = { type: ["string", "number", "boolean", "null"] };
const fields: JsonObject = {
  type: "object",
  additionalProperties: { anyOf: [scalar, { type: "array", items: { type: ["string", "number", "boolean"] } }] },
};

const body: JsonObject = {
  title: "Body",
  description: "What is sent: json, text or form",
  type: "object",
  properties: {
    json: { title: "JSON", description: "Any value, sent as application/json" },
    text: { title: "Text", description: "Sent as text/plain unless a header content-type says otherwise", type: "string" },
    form: { title: "Form", description: "Fields, sent as application/x-www-form-urlencoded", ...fields },
  },
  minProperties: 1,
  maxProperties: 1,
  additionalProperties: false,
};

const basicAuth: JsonObject = {
  title: "Basic authentication",
  description: "Sent as the header authorization; take both from globals: {{ globals.shopPassword }}",
  type: "object",
  properties: { user: { title: "User", type: "string" }, password: { title: "Password", type: "string" } },
  required: ["user", "password"],
  additionalProperties: false,
};

/** Makes the schema of the data. A node may ask for at most `limitBytes`. */
export function httpInput(limitBytes: number, defaultTimeoutMs: number): JsonSchema {
  return {
    title: "HTTP request",
    type: "object",
    properties: {
      url: { title: "URL", description: "http or https, without user and password", type: "string", minLength: 1 },
      method: { title: "Method", type: "string", enum: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"], default: "GET" },
      headers: { title: "Headers", description: "By name; null leaves one out", type: "object", additionalProperties: scalar },
      basicAuth,
      query: { title: "Query", description: "Added to the URL; a list gives its name several times", ...fields },
      body,
      timeout: {
        title: "Timeout",
        description: "Of the whole call with its redirects: 10s, 2m, or milliseconds",
        type: ["string", "number"],
        default: defaultTimeoutMs,
      },
      maxBytes: {
        title: "Largest answer",
        description: "In bytes, after decompression; a larger one fails the node",
        type: "integer",
        minimum: 1,
        maximum: limitBytes,
        default: limitBytes,
      },
      retriableCodes: {
        title: "Retriable codes",
        description: "Statuses that fail the attempt, so that the retry policy applies",
        type: "array",
        items: { type: "integer", minimum: 200, maximum: 599 },
        default: defaultRetriableCodes,
      },
      response: {
        title: "Response",
        description: "How the body is read; auto goes by its content type",
        type: "string",
        enum: ["auto", "json", "text", "base64"],
        default: "auto",
      },
      followRedirects: {
        title: "Follow redirects",
        description: "How many at most; 0 makes a redirect an answer, which leaves by the handle fail",
        type: "integer",
        minimum: 0,
        maximum: maxRedirects,
        default: maxRedirects,
      },
      idempotencyKey: {
        title: "Idempotency key",
        description:
          "Send a digest of the step's key as Idempotency-Key, the same for every attempt. Default: for all but GET, HEAD and OPTIONS",
        type: "boolean",
      },
    },
    required: ["url"],
    additionalProperties: false,
  };
}

/** The schema of the output. */
export const httpOutput: JsonSchema = {
  type: "object",
  properties: {
    status: { title: "Status", description: "200 and so on", type: "integer" },
    headers: { title: "Headers", description: "By name in lower case", type: "object", additionalProperties: { type: "string" } },
    body: { title: "Body", description: "A JSON value, text, base64 text, or null if it is empty" },
  },
  required: ["status", "headers", "body"],
};
