import { StepfoldError } from "../core/errors/stepfold-error.ts";
import type { WaitInfo } from "../core/explain/waits.ts";
import { waits } from "../core/explain/waits.ts";
import { aFunction, aListOfObjects, checkOptions, refuseUnknown, requireMethods } from "../core/values/check-arguments.ts";
import type { EpochMs, Json } from "../core/values/json.ts";
import { plainJson } from "../core/values/to-json.ts";
import { systemEnvironment } from "../environment/system-environment.ts";
import { toBase64Url } from "../http/base64url.ts";
import type { FetchHandler } from "../http/fetch-handler.ts";
import { parsedJson } from "../http/request-body.ts";
import { bodyOf, failure, json, notJson } from "../http/responses.ts";
import type { Run } from "../runtime/handle/run.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { type LinkClaims, type LinkKey, linkTokens } from "./link-token.ts";

/** The options of `answerLinks`. */
export interface AnswerLinksOptions {
  /**
   * The first key signs, all keys verify. To rotate, put a new key before the others, and remove the old one when its links have expired.
   */
  readonly keys: readonly LinkKey[];
  /** The clock that decides whether a link has expired, in epoch milliseconds. Default: that of this process. */
  readonly now?: (() => EpochMs) | undefined;
}

/** The options of one link. */
export interface AnswerLinkOptions {
  readonly workflowId: string;
  /** `id` of a wait that `run.waits()` gives. */
  readonly waitId: string;
  /** Who answers with the link. It is the `by` of the answer, and the holder of the link cannot change it. */
  readonly by?: string | undefined;
  /**
   * The only answer that can be given with the link, for example for "approve". It can be read in the link, which may have at most 16,384
   * characters. Default: the holder of the link chooses the answer.
   */
  readonly payload?: unknown;
  /** When the link expires, in epoch milliseconds. Default: the deadline of the wait, or 30 days from now. */
  readonly expiresAt?: EpochMs | undefined;
}

/** What a valid link is for. */
export interface AnswerLink {
  readonly workflowId: string;
  /** The wait that it answers, with what was asked and the schema of the answer. */
  readonly wait: WaitInfo;
  /** Who answers with the link. Absent: the answer has no name. */
  readonly by?: string;
  /** The only answer that can be given with the link. Absent: the holder of the link chooses the answer. */
  readonly payload?: Json;
  readonly expiresAt: EpochMs;
}

/** Links that answer waits. */
export interface AnswerLinks {
  /**
   * Makes the token of a link, for the end of a URL.
   *
   * @throws StepfoldError `WORKFLOW_NOT_FOUND`, `WAIT_GONE` if the wait is not open or cannot be answered, `OPTION_INVALID`, also if
   * `payload` makes the link too long, `OPTION_UNKNOWN`, `VALUE_NOT_JSON`, `LIMIT_EXCEEDED`, `STORE_UNAVAILABLE`
   */
  create(link: AnswerLinkOptions): Promise<string>;
  /**
   * Returns what a link is for, and changes nothing. @throws StepfoldError `LINK_INVALID` if it is forged, has expired, or its wait is over
   */
  read(token: string): Promise<AnswerLink>;
  /**
   * Answers the wait.
   *
   * @param payload left out if the link has one
   * @returns `applied: false` if the same answer was given with this link before
   * @throws StepfoldError `LINK_INVALID` as `read`, also if the link was used for another answer; `RESUME_INVALID` if the payload does not
   * fit, `RESPONDER_DENIED`: after these two the link can be used again, also if only the code of the node refuses the payload, later;
   * `OPTION_INVALID` if both the link and the call have a payload;
   * `CODE_NEEDED`, `STORE_UNAVAILABLE`
   */
  answer(token: string, payload?: unknown): Promise<{ readonly applied: boolean }>;
  /**
   * Answers web requests whose path ends in a token. `GET` returns as JSON what the link is for, so that a page can show it, and changes
   * nothing, because mail scanners follow links. `POST` with the payload as JSON answers the wait. A link that cannot be used gives 404,
   * whatever the reason.
   */
  readonly fetch: FetchHandler;
}

/** The longest `by`, in characters, as in `run.resume`. */
const maxByLength = 1_000;
/** How long a link is valid if neither the link nor its wait says so, in milliseconds. */
const defaultMs = 30 * 24 * 60 * 60 * 1000;
/** Codes that mean that the link cannot be used any more. */
const usedLinkCodes: readonly string[] = ["WAIT_GONE", "WAIT_EXPIRED", "EXECUTION_ENDED", "WORKFLOW_NOT_FOUND", "RESUME_CONFLICT"];

/**
 * Creates signed links with which people and services outside can answer one wait each: an approval in a mail, a callback of another
 * service. A link contains who may answer what, signed by HMAC-SHA-256. The execution keeps nothing of it but a random number, which is the
 * idempotency key of the answer, so that the answer counts once. Everybody who has the link can answer: send it to one person, and let it
 * expire.
 *
 * ```ts
 * import { answerLinks } from "stepfold/webhooks";
 *
 * const secret = Buffer.from(process.env.LINK_SECRET!, "base64"); // 32 random bytes: openssl rand -base64 32
 * const links = answerLinks(runtime, { keys: [{ id: "2026-11", secret }] });
 * const { id: waitId } = await run.waitFor({ step: "approve" });
 * const token = await links.create({ workflowId: run.workflowId, waitId, by: "ada" });
 * // mail: https://example.com/answers/TOKEN; there `links.fetch` answers, or a page of yours that calls `links.read` and `links.answer`
 * await links.answer(token, { approved: true }); // { applied: true }
 * ```
 *
 * @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN`
 */
export function answerLinks(runtime: Pick<Runtime, "get">, options: AnswerLinksOptions): AnswerLinks {
  requireMethods("runtime", runtime, "a runtime of createRuntime", ["get"]);
  checkOptions("answerLinks", options, { keys: aListOfObjects, now: aFunction }, ["keys"]);
  const { keys, now = () => systemEnvironment.now() } = options;
  const tokens = linkTokens(keys);
  const claimsOf = async (token: string): Promise<LinkClaims> => {
    const claims = await tokens.read(token);
    if (!claims || claims.expiresAt <= now()) throw new StepfoldError("LINK_INVALID", {});
    return claims;
  };
  const links: Omit<AnswerLinks, "fetch"> = {
    async create(link) {
      refuseUnknown("links.create", link, ["workflowId", "waitId", "by", "payload", "expiresAt"]);
      const { workflowId, waitId, by, payload, expiresAt } = link;
      const { snapshot, wait } = await openWait(await runtime.get(workflowId), waitId);
      if (wait?.answer?.type !== "resume") throw new StepfoldError("WAIT_GONE", { workflowId, target: waitId, open: [] });
      if (by !== undefined && (typeof by !== "string" || by.length === 0 || by.length > maxByLength))
        throw invalid("by", `must be text of 1 to ${maxByLength} characters`);
      if (expiresAt !== undefined && !Number.isFinite(expiresAt)) throw invalid("expiresAt", "must be epoch milliseconds");
      return tokens.write({
        ...{ workflowId, incarnation: snapshot.incarnation ?? "", waitId },
        ...(by !== undefined && { by }),
        ...(payload !== undefined && { payload: plainJson(payload, "The payload of a link").value }),
        expiresAt: expiresAt ?? wait.timeoutAt ?? now() + defaultMs,
        nonce: toBase64Url(crypto.getRandomValues(new Uint8Array(16))),
      });
    },
    async read(token) {
      const { workflowId, incarnation, waitId, by, payload, expiresAt } = await claimsOf(token);
      const { snapshot, wait } = await asLinkInvalid(async () => openWait(await runtime.get(workflowId), waitId));
      if (!wait || snapshot.incarnation !== incarnation) throw new StepfoldError("LINK_INVALID", {});
      return { workflowId, wait, ...(by !== undefined && { by }), ...(payload !== undefined && { payload }), expiresAt };
    },
    async answer(token, given) {
      const { workflowId, incarnation, waitId, by, payload, nonce } = await claimsOf(token);
      if (payload !== undefined && given !== undefined) throw invalid("payload", "must be left out: the link already contains the answer");
      return asLinkInvalid(async () => {
        const run = await runtime.get(workflowId);
        const { snapshot, wait } = await openWait(run, waitId);
        if (snapshot.incarnation !== incarnation) throw new StepfoldError("LINK_INVALID", {});
        return run.resume({
          waitId: wait?.id ?? waitId,
          payload: payload === undefined ? given : payload,
          by,
          idempotencyKey: `link ${nonce}`,
        });
      });
    },
  };
  return { ...links, fetch: linksHandler(links) };
}

/** Returns the open wait with an id, also if it has another one now because the code of its node has refused an answer. */
async function openWait(
  run: Run,
  waitId: string,
): Promise<{ readonly snapshot: Awaited<ReturnType<Run["snapshot"]>>; readonly wait: WaitInfo | undefined }> {
  const snapshot = await run.snapshot();
  return { snapshot, wait: waits(snapshot).find(({ id, firstId = id }) => waitId === id || waitId === firstId) };
}

/** Runs `work`, and turns errors that mean a used link into `LINK_INVALID`. */
async function asLinkInvalid<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (StepfoldError.is(error) && usedLinkCodes.includes(error.code)) throw new StepfoldError("LINK_INVALID", {}, { cause: error });
    throw error;
  }
}

function invalid(option: string, reason: string): StepfoldError {
  return new StepfoldError("OPTION_INVALID", { option, reason });
}

/** Answers requests whose path ends in the token of a link. */
function linksHandler(links: Pick<AnswerLinks, "read" | "answer">): FetchHandler {
  return async (request) => {
    const { method, url } = request;
    if (method !== "GET" && method !== "POST") return json(405, { error: "another method is needed" }, { allow: "GET, POST" });
    const token = new URL(url).pathname.split("/").at(-1)!;
    try {
      if (method === "GET") {
        const { wait, by, payload, expiresAt } = await links.read(token);
        const { address, kind, payload: asked, schema, timeoutAt } = wait;
        return json(200, { wait: { address, kind, payload: asked, schema, timeoutAt }, by, payload, expiresAt });
      }
      const body = await bodyOf(request);
      if ("refusal" in body) return body.refusal;
      const given = body.bytes.length === 0 ? { value: undefined } : parsedJson(body.bytes);
      if (!given) return failure(notJson());
      return json(200, await links.answer(token, given.value));
    } catch (error) {
      return failure(error);
    }
  };
}
