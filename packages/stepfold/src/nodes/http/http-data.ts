import type { Duration } from "../../core/values/duration.ts";
import type { Json, JsonObject, JsonSchema } from "../../core/values/json.ts";

type Scalar = string | number | boolean;
type Fields = Readonly<Record<string, Scalar | null | readonly Scalar[]>>;

/** The data (input) of an `http` node. */
export interface HttpData {
  /** The address: http or https, without user and password. */
  readonly url: string;
  /** The method of the call. Default: `GET`. */
  readonly method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS" | undefined;
  /**
   * Header values by name. An entry whose value is null is left out; a header of this name that the node itself sets is still sent.
   * Default: none.
   */
  readonly headers?: Readonly<Record<string, Scalar | null>> | undefined;
  /**
   * Basic authentication, `{ user, password }`. Take both from `globals`, because everything written in a definition is stored with it.
   * Default: none.
   */
  readonly basicAuth?: { readonly user: string; readonly password: string } | undefined;
  /**
   * Parameters that are added to the query of the URL. A list gives one
   * parameter for each of its values; null leaves the parameter out. Default: none.
   */
  readonly query?: Fields | undefined;
  /**
   * What is sent, as exactly one of `json` (any value), `text`, and `form` (fields, `application/x-www-form-urlencoded`):
   * `body: { json: "{{ input.order }}" }`. Default: none.
   */
  readonly body?: { readonly json?: Json; readonly text?: string; readonly form?: Fields } | undefined;
  /** The time limit of the whole call with its redirects. Default: `defaultTimeoutMs` of `httpNode`, 30 seconds. */
  readonly timeout?: Duration | undefined;
  /** The largest body of the response in bytes, before and after decompression. Default: `maxBytes` of `httpNode`, 1 MiB. */
  readonly maxBytes?: number | undefined;
  /**
   * The statuses that fail the attempt, so that it is retried if there is a retry policy. Default: 500, 502, 503, 504; with a retry policy
   * also 408, 425 and 429.
   */
  readonly retriableCodes?: readonly number[] | undefined;
  /** How the body of the response is read; `auto` goes by its content type. Default: `auto`. */
  readonly response?: "auto" | "json" | "text" | "base64" | undefined;
  /**
   * What becomes of a number in a JSON response that a JavaScript number cannot hold, such as the id 7615917337495251231. `exact`: text,
   * exactly as the service has written it. `double`: the nearest number, as `JSON.parse` gives it. Numbers with a fraction stay numbers.
   * Default: `exact`.
   */
  readonly numbers?: "exact" | "double" | undefined;
  /** The most redirects that are followed. With 0, a redirect is itself the response, and the path leaves by `fail`. Default: 5. */
  readonly followRedirects?: number | undefined;
  /** Whether the header `Idempotency-Key` is sent. Default: for all methods except GET, HEAD and OPTIONS. */
  readonly idempotencyKey?: boolean | undefined;
}

/** The response of a call, which is the output of the node. */
export interface HttpAnswer {
  readonly status: number;
  /**
   * The values by name in lower case. Cookies (`set-cookie`, `set-cookie2`) are left out, because they are credentials. Several headers
   * with the same name are joined with commas.
   */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
}

/** The largest `followRedirects` that the data may set, which is also the default. */
export const maxRedirects = 5;

/** The statuses that fail the attempt if `retriableCodes` is absent. An empty list means that no status fails the attempt. */
export const defaultRetriableCodes: readonly number[] = [500, 502, 503, 504];

/** The statuses that ask the caller to come back: they too fail the attempt if `retriableCodes` is absent and the step has a retry policy. */
export const comeBackCodes: readonly number[] = [408, 425, 429];

/** Members of the data that must not be left out because a field of the input is missing: the call would be another one. */
export const httpGuards: readonly (keyof HttpData)[] = [
  "url",
  "method",
  "basicAuth",
  "timeout",
  "maxBytes",
  "retriableCodes",
  "response",
  "numbers",
  "followRedirects",
  "idempotencyKey",
];

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
  description: "Sent as the header authorization. Take user and password from globals: {{ globals.shopPassword }}",
  type: "object",
  properties: { user: { title: "User", type: "string" }, password: { title: "Password", type: "string" } },
  required: ["user", "password"],
  additionalProperties: false,
};

const headers: JsonObject = {
  title: "Headers",
  description: "Header values by name. A header whose value is null is not sent",
  type: "object",
  additionalProperties: scalar,
};

const query: JsonObject = {
  title: "Query",
  description: "Parameters added to the URL. A list gives one parameter for each of its values; null leaves it out",
  ...fields,
};

const numbers: JsonObject = {
  title: "Large numbers",
  description: "Whole numbers that a JavaScript number cannot hold: exact makes text of them, double the nearest number",
  type: "string",
  enum: ["exact", "double"],
  default: "exact",
};

/** Builds the JSON Schema of the node's data. `limitBytes` is `maxBytes` of `httpNode`: the data may only set a lower limit. */
export function httpInput(limitBytes: number, defaultTimeoutMs: number): JsonSchema {
  return {
    title: "HTTP request",
    type: "object",
    properties: {
      url: { title: "URL", description: "http or https, without user and password", type: "string", minLength: 1 },
      method: { title: "Method", type: "string", enum: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"], default: "GET" },
      headers,
      basicAuth,
      query,
      body,
      timeout: {
        title: "Timeout",
        description: "Time limit of the whole call with its redirects: 10s, 2m, or milliseconds",
        type: ["string", "number"],
        default: defaultTimeoutMs,
      },
      maxBytes: {
        title: "Largest response",
        description: "In bytes, after decompression. A larger response fails the node",
        type: "integer",
        minimum: 1,
        maximum: limitBytes,
        default: limitBytes,
      },
      retriableCodes: {
        title: "Retriable codes",
        description: "Status codes that fail the attempt, so that the retry policy applies. With one, the default has 408, 425, 429 too",
        type: "array",
        items: { type: "integer", minimum: 200, maximum: 599 },
        default: defaultRetriableCodes,
      },
      response: {
        title: "Response",
        description: "How the response body is read. auto uses its content type",
        type: "string",
        enum: ["auto", "json", "text", "base64"],
        default: "auto",
      },
      numbers,
      followRedirects: {
        title: "Follow redirects",
        description: "The most redirects that are followed. With 0, a redirect is not followed: the node continues at its handle fail",
        type: "integer",
        minimum: 0,
        maximum: maxRedirects,
        default: maxRedirects,
      },
      idempotencyKey: {
        title: "Idempotency key",
        description:
          "Send the header Idempotency-Key, which is the same for every attempt of a step. Default: true, except for GET, HEAD and OPTIONS",
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
    status: { title: "Status", description: "HTTP status code, such as 200", type: "integer" },
    headers: {
      title: "Headers",
      description: "Header values by name in lower case",
      type: "object",
      additionalProperties: { type: "string" },
    },
    body: { title: "Body", description: "A JSON value, text, base64 text, or null if it is empty" },
  },
  required: ["status", "headers", "body"],
};
