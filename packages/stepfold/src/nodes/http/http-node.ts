import type { IncomingMessage } from "node:http";
import type { RetryPolicy } from "../../core/definition/definition.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { aListOfTexts, anObject, anything, checkOptions } from "../../core/values/check-arguments.ts";
import type { Duration } from "../../core/values/duration.ts";
import { durationMs } from "../../core/values/duration.ts";
import { defineNode } from "../../engine/node/define-node.ts";
import type { NodeDefinition, NodeOutput } from "../../engine/node/node-definition.ts";
import type { StepContext } from "../../engine/node/step-context.ts";
import { withDeadline } from "./deadline.ts";
import {
  comeBackCodes,
  defaultRetriableCodes,
  type HttpAnswer,
  type HttpData,
  httpGuards,
  httpInput,
  httpOutput,
  maxRedirects,
} from "./http-data.ts";
import { FatalHttpError, HttpError, HttpRetryAfterError } from "./http-error.ts";
import { httpRequest, labelOf } from "./http-request.ts";
import type { ResolveHost } from "./resolve-host.ts";
import { readBody } from "./response-body.ts";
import { type Content, contentOf, contentOfFailure } from "./response-content.ts";
import { retryAfterOf } from "./retry-after.ts";
import { type Received, send } from "./send.ts";
import { ssrfGuard, systemResolve } from "./ssrf-guard.ts";

/** Settings for the calls of all workflows of an engine. */
export interface HttpNodeOptions {
  /**
   * Hosts that may be called although they are not public: `"localhost"` at any port, `"10.0.0.7:8080"` at this port only. The host of
   * the URL must be exactly the same; its addresses may be any then. Default: none.
   */
  readonly allowHosts?: readonly string[] | undefined;
  /** The time limit of a whole call in milliseconds, if the data gives none. At most 24 hours. Default: 30 s. */
  readonly defaultTimeoutMs?: number | undefined;
  /** The largest body that is read, in bytes. The data may set a lower limit, never a higher one. Default: 1 MiB. */
  readonly maxBytes?: number | undefined;
  /** The retry policy of all http nodes that have no policy of their own. Default: none, so there is only one attempt. */
  readonly retryPolicy?: RetryPolicy | undefined;
}

/** A definition of the node type `http`. */
export type HttpNode = NodeDefinition<HttpData, HttpAnswer, unknown, "" | "auth-error" | "fail">;

const maxTimeoutMs = 24 * 3_600_000;

/**
 * Node type `http`: makes one HTTP call. Its output is `{ status, headers, body }`.
 *
 * | response | what happens |
 * | --- | --- |
 * | a status in `retriableCodes` | the attempt fails with `HTTP_STATUS`; `Retry-After` sets the delay of the next |
 * | 2xx | the path leaves by the default handle |
 * | 401, 403 | the path leaves by `auth-error` |
 * | any other | the path leaves by `fail` |
 *
 * If no edge leaves by `auth-error` or `fail`, the step fails with `HTTP_STATUS`, and `details` of the error are the output: the path leaves
 * by the edge `error` if there is one. Draw the edge where you expect such a status, for example a 404.
 *
 * `retriableCodes` are by default 500, 502, 503 and 504, and with a retry policy also 408, 425 and 429. `Retry-After` counts up to the
 * `maxInterval` of the policy, or a day.
 *
 * In a JSON response, a whole number that a JavaScript number cannot hold becomes text, exactly as it is written:
 * `{ "id": 7615917337495251231, "price": 0.1 }` gives `{ "id": "7615917337495251231", "price": 0.1 }`. With `numbers: "double"` it becomes the
 * nearest number: `{ "id": 7615917337495251000, "price": 0.1 }`.
 *
 * These failures may be retried: `HTTP_STATUS`, `HTTP_TIMEOUT`, `HTTP_NETWORK`. These are never
 * retried: `HTTP_REQUEST_INVALID`, `HTTP_ADDRESS_REFUSED`, `HTTP_REDIRECT`, `HTTP_TOO_LARGE`, `HTTP_BODY_UNREADABLE`. `HTTP_ABORTED`
 * means that the engine has stopped the step. Errors may name the method, the origin and the name of a header, but never the path, the
 * query or the value of a header. The output does not contain the headers of the request.
 *
 * `basicAuth: { user, password }` sends the header `authorization`. Take user and password from `globals`, the place for secrets: no
 * snapshot contains `globals`, and secrets among them are removed from messages of errors.
 *
 * Only public addresses are called, also after a redirect and whatever address a name resolves to; `allowHosts` names exceptions.
 * Methods other than GET, HEAD and OPTIONS send the header `Idempotency-Key`, if `idempotencyKey` in the data does not say otherwise.
 * The key is the same for every attempt of the step: a service that supports it does the work only once. Proxies of the environment are
 * not used.
 *
 * @throws StepfoldError `OPTION_INVALID`
 *
 * ```ts
 * const nodeDefinitions = { ...builtinNodes, http: httpNode({ allowHosts: ["billing.internal:8080"] }) };
 * const charge = {
 *   id: "charge",
 *   type: "http",
 *   data: {
 *     method: "POST",
 *     url: "http://billing.internal:8080/charges",
 *     headers: { authorization: "Bearer {{ globals.billingToken }}" },
 *     body: { json: { amount: "{{ input.amount }}" } },
 *   },
 *   retryPolicy: { maxAttempts: 3, interval: "2s", backoff: "exponential" },
 * };
 * ```
 * @throws StepfoldError `OPTION_UNKNOWN`
 */
export function httpNode(options: HttpNodeOptions = {}): HttpNode {
  return httpNodeWith(options, systemResolve);
}

/** `httpNode` with another resolver of host names. Internal: for tests. */
export function httpNodeWith(options: HttpNodeOptions, resolve: ResolveHost): HttpNode {
  checkOptions("httpNode", options, { allowHosts: aListOfTexts, defaultTimeoutMs: anything, maxBytes: anything, retryPolicy: anObject });
  const limitBytes = positive("maxBytes", options.maxBytes ?? 1_048_576);
  const defaultTimeoutMs = positive("defaultTimeoutMs", options.defaultTimeoutMs ?? 30_000);
  const guard = ssrfGuard(options.allowHosts ?? [], resolve);
  return defineNode({
    input: httpInput(limitBytes, defaultTimeoutMs),
    output: httpOutput,
    handles: ["", "auth-error", "fail"],
    failures: ["auth-error", "fail"],
    retryPolicy: options.retryPolicy,
    durations: ["timeout"],
    guards: httpGuards,
    metadata: {
      label: "HTTP request",
      icon: "globe",
      description: "Calls a service",
      category: "services",
      example: { method: "POST", url: "https://api.example.com/orders", body: { json: { item: "{{ input.item }}" } } },
    },
    async executor(data: HttpData, step): Promise<NodeOutput<HttpAnswer, "" | "auth-error" | "fail">> {
      const timeoutMs = readTimeout(data.timeout ?? defaultTimeoutMs);
      const request = httpRequest(data, step.idempotencyKey);
      return withDeadline(timeoutMs, step.signal, labelOf(request), async (signal) => {
        const received = await send(request, guard, data.followRedirects ?? maxRedirects, signal);
        try {
          return await judge(received, data, step, data.maxBytes ?? limitBytes, signal);
        } finally {
          received.response.destroy();
        }
      });
    },
  });
}

/** Decides what a response means for the workflow: a failed attempt, or an output and a handle. */
async function judge(
  received: Received,
  { retriableCodes, response: wanted = "auto", numbers = "exact" }: HttpData,
  { hasRetryPolicy, now }: Pick<StepContext, "hasRetryPolicy" | "now">,
  maxBytes: number,
  signal: AbortSignal,
): Promise<NodeOutput<HttpAnswer, "" | "auth-error" | "fail">> {
  const { response } = received;
  const status = response.statusCode!;
  const label = `${labelOf(received.sent)} (status ${status})`;
  const message = `${labelOf(received.sent)} answered with status ${status}`;
  const fails =
    retriableCodes?.includes(status) ?? (defaultRetriableCodes.includes(status) || (hasRetryPolicy && comeBackCodes.includes(status)));
  if (fails) {
    const delayMs = retryAfterOf(response.headers["retry-after"], now());
    throw delayMs === null ? new HttpError("HTTP_STATUS", message) : new HttpRetryAfterError(delayMs, message);
  }
  const bytes = await readBody(received, maxBytes, signal);
  const content: Content = { bytes, contentType: response.headers["content-type"] ?? "", label, wanted, numbers };
  const headers = headersOf(response);
  if (status >= 200 && status < 300) return { data: { status, headers, body: contentOf(content) } };
  const nextHandle = status === 401 || status === 403 ? "auth-error" : "fail";
  const failure = { name: "HttpError", code: "HTTP_STATUS", message };
  return { data: { status, headers, body: contentOfFailure(content) }, nextHandle, failure };
}

function headersOf({ rawHeaders }: IncomingMessage): Record<string, string> {
  const headers = new Map<string, string>();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    // Cookies are credentials, and `__proto__` cannot be kept as JSON.
    if (name === "set-cookie" || name === "set-cookie2" || name === "__proto__") continue;
    const before = headers.get(name);
    headers.set(name, before === undefined ? rawHeaders[i + 1]! : `${before}, ${rawHeaders[i + 1]!}`);
  }
  return Object.fromEntries(headers);
}

function readTimeout(timeout: Duration): number {
  const timeoutMs = durationMs(timeout);
  if (timeoutMs >= 1 && timeoutMs <= maxTimeoutMs) return timeoutMs;
  throw new FatalHttpError("HTTP_REQUEST_INVALID", `The timeout must be between 1 ms and 24 hours, not ${timeoutMs} ms`);
}

function positive(option: string, value: number): number {
  const max = option === "maxBytes" ? Number.MAX_SAFE_INTEGER : maxTimeoutMs;
  if (Number.isInteger(value) && value > 0 && value <= max) return value;
  throw new StepfoldError("OPTION_INVALID", { option, reason: `must be a whole number from 1 to ${max}, not ${String(value)}` });
}
