import { StepfoldError } from "../core/errors/stepfold-error.ts";
import { aFunction, anything, checkOptions, refuseUnknown, requireMethods } from "../core/values/check-arguments.ts";
import { systemEnvironment } from "../environment/system-environment.ts";
import { fromBase64Text } from "../http/base64url.ts";
import type { FetchHandler } from "../http/fetch-handler.ts";
import { joinedBytes, parsedJson } from "../http/request-body.ts";
import { bodyOf, failure, json, notJson } from "../http/responses.ts";
import type { CountQuery } from "../ports/execution-list.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { importSecret, isMacOf, type Secret } from "./hmac.ts";

/** An event that another service has sent. Its signature was right. */
export interface WebhookEvent {
  /** Header `webhook-id`: the same for each attempt to deliver the event. 1 to 200 characters of ASCII without a blank and a dot. */
  readonly id: string;
  /** The parsed body. The sender decides its form, so check it. */
  readonly body: unknown;
  readonly headers: Headers;
}

/** What the runtime does for an event. */
export type WebhookAction =
  /** Starts an execution. Without `workflowId` its id is that of the event. */
  | { readonly start: string; readonly workflowId?: string | undefined; readonly input?: unknown }
  /** Sends a signal to one execution. */
  | { readonly signal: string; readonly to: string; readonly key?: string | undefined; readonly payload?: unknown }
  /** Sends a signal to all executions that wait for it. */
  | { readonly broadcast: string; readonly key: string; readonly payload?: unknown; readonly where?: CountQuery | undefined };

/** The options of `webhook`: how events are checked, and what they do. */
export interface WebhookOptions {
  /**
   * The secret that the sender has shown, `whsec_...`: base64 of 24 bytes or more. A list while a secret is replaced: each of them is
   * accepted.
   */
  readonly secret: string | readonly string[];
  /**
   * Returns what an event does. Null: nothing, and the event is acknowledged. If it throws, the answer is 500 (for a StepfoldError the
   * status of its code), so that the sender tries again, and `onProblem` gets the error.
   */
  readonly receive: (event: WebhookEvent) => WebhookAction | null | Promise<WebhookAction | null>;
  /**
   * Called if an event could not do what it should: with the error of `receive` or of the runtime, or `VALUE_NOT_JSON` if the body is not
   * JSON in UTF-8, and with the id of the event. The sender gets only the code of the error. An error that this function throws changes
   * nothing. Default: no call.
   */
  readonly onProblem?: ((error: unknown, eventId: string) => void) | undefined;
  /**
   * Name of the service, for several services that send events to the same executions. It is put before the ids of its events, so that
   * events of two services never count as one. Default: none.
   */
  readonly sender?: string | undefined;
  /** How old an event may be, and how far in the future, in milliseconds. Default 5 minutes. */
  readonly toleranceMs?: number | undefined;
  /** The clock that decides this, in epoch milliseconds. Default: that of this process. */
  readonly now?: (() => number) | undefined;
}

/**
 * Returns a web handler for the events of another service that follows Standard Webhooks (https://www.standardwebhooks.com). The handler
 * checks the signature over the bytes of the body and the time, and starts an execution or sends a signal. An event counts once, however often it is
 * sent: its id is the idempotency key.
 *
 * ```ts
 * import { webhook } from "stepfold/webhooks";
 *
 * const paid = webhook(runtime, {
 *   secret: process.env.PAYMENT_SECRET!,
 *   receive({ body }) {
 *     const { type, order } = body as { type: string; order: string };
 *     return type === "paid" ? { broadcast: "paid", key: order, payload: body } : null;
 *   },
 * });
 * export default { fetch: paid };
 * ```
 *
 * The handler answers 200 with what was done, 401 to a wrong signature or time, 400 to a body that is not JSON in UTF-8, and 503 and others by the
 * code of the error, as JSON without the text of the error. The secret is kept in this process only.
 *
 * @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN`
 */
export function webhook(runtime: Pick<Runtime, "start" | "get" | "broadcast">, options: WebhookOptions): FetchHandler {
  requireMethods("runtime", runtime, "a runtime of createRuntime", ["start", "get", "broadcast"]);
  checkOptions("webhook", options, {
    secret: anything,
    receive: anything,
    onProblem: anything,
    sender: anything,
    toleranceMs: anything,
    now: aFunction,
  });
  const { secret, receive, onProblem, sender = "", toleranceMs = 5 * 60 * 1000, now = () => systemEnvironment.now() } = options;
  if (typeof receive !== "function") throw invalid("receive", "must be a function that returns what an event does");
  if (onProblem !== undefined && typeof onProblem !== "function") throw invalid("onProblem", "must be a function");
  if (!isSender(sender)) throw invalid("sender", "must be a text of at most 50 letters, digits and - _ .");
  if (!Number.isFinite(toleranceMs) || toleranceMs < 0) throw invalid("toleranceMs", "must be a number of milliseconds, at least 0");
  const secrets = secretsOf(secret);
  return async (request) => {
    if (request.method !== "POST") return json(405, { error: "another method is needed" }, { allow: "POST" });
    const { headers } = request;
    const [id, time, signature] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => headers.get(name) ?? "");
    const isNow = /^\d{1,12}$/.test(time!) && Math.abs(Number(time) * 1000 - now()) <= toleranceMs;
    if (!isNow || !idForm.test(id!)) return unsigned();
    const body = await bodyOf(request);
    if ("refusal" in body) return body.refusal;
    const signed = joinedBytes([new TextEncoder().encode(`${id}.${time}.`), body.bytes]);
    if (!(await isSigned(secrets, signed, signature!))) return unsigned();
    try {
      const given = parsedJson(body.bytes);
      if (!given) throw notJson();
      const action = await receive({ id: id!, body: given.value, headers });
      return json(200, action === null ? { ignored: true } : await done(runtime, sender === "" ? id! : `${sender}:${id}`, action));
    } catch (error) {
      report(onProblem, error, id!);
      return failure(error);
    }
  };
}

function isSender(sender: unknown): boolean {
  return typeof sender === "string" && /^[\w.-]{0,50}$/.test(sender);
}

/** Calls `onProblem`. Whatever it does, the sender gets its answer. */
function report(onProblem: WebhookOptions["onProblem"], error: unknown, eventId: string): void {
  try {
    onProblem?.(error, eventId);
  } catch {
    // `onProblem` itself has thrown: there is nobody else to tell
  }
}

/**
 * The form of an event's id: printable ASCII without a dot. The signature is over the id, the time and the body, with dots between them: with a dot in the id, the same
 * bytes could be split into another id, another time and another body.
 */
const idForm = /^[!-\-/-~]{1,200}$/;
/** The most signatures of one event that are checked. */
const maxSignatures = 10;

function unsigned(): Response {
  return json(401, { error: "signature or time missing or wrong" });
}

/** Whether one of the signatures in a header, each `v1,BASE64`, was made with one of the secrets. */
async function isSigned(secrets: readonly Promise<Secret>[], bytes: Uint8Array<ArrayBuffer>, header: string): Promise<boolean> {
  for (const one of header.split(" ").slice(0, maxSignatures)) {
    const mac = one.startsWith("v1,") ? fromBase64Text(one.slice(3)) : null;
    for (const secret of mac ? secrets : []) if (await isMacOf(secret, mac!, bytes)) return true;
  }
  return false;
}

/** The members that each action may have. */
const actionOptions = {
  start: ["start", "workflowId", "input"],
  signal: ["signal", "to", "key", "payload"],
  broadcast: ["broadcast", "key", "payload", "where"],
} as const;

/** Does what an action says, with the id of the event as idempotency key. Returns the content of the answer. */
async function done(runtime: Parameters<typeof webhook>[0], id: string, action: WebhookAction): Promise<object> {
  const idempotencyKey = `webhook ${id}`;
  const kind = typeof action === "object" && (["start", "signal", "broadcast"] as const).find((one) => one in action);
  if (!kind) throw invalid("receive", "must give start, signal, broadcast or null");
  refuseUnknown("what an event does", action, actionOptions[kind]);
  if ("start" in action) {
    const { workflowId } = await runtime.start(action.start, { workflowId: action.workflowId ?? id, input: action.input });
    return { workflowId };
  }
  if ("signal" in action) {
    const run = await runtime.get(action.to);
    return run.signal(action.signal, action.payload, { key: action.key, idempotencyKey });
  }
  const { key, where, payload } = action;
  const { reached, refused } = await runtime.broadcast(action.broadcast, payload, { key, where, idempotencyKey });
  return { reached: reached.length, refused: refused.length };
}

/** Reads the secrets of the option `secret`. @throws StepfoldError `OPTION_INVALID` */
function secretsOf(secret: unknown): readonly Promise<Secret>[] {
  const all: readonly unknown[] = Array.isArray(secret) ? secret : [secret];
  if (all.length === 0) throw invalid("secret", "is missing");
  return all.map((one) => {
    const bytes = typeof one === "string" && one.startsWith("whsec_") ? fromBase64Text(one.slice("whsec_".length)) : null;
    if (!bytes) throw invalid("secret", 'must be "whsec_" and base64 of 24 bytes or more, or a list of such');
    return importSecret("secret", bytes);
  });
}

function invalid(option: string, reason: string): StepfoldError {
  return new StepfoldError("OPTION_INVALID", { option, reason });
}
