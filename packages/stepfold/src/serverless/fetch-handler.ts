import { StepfoldError } from "../core/errors/stepfold-error.ts";
import { isWorkflowId } from "../core/values/ids/id.ts";
import { systemEnvironment } from "../environment/system-environment.ts";
import type { SecretCheck } from "../http/bearer-secret.ts";
import type { FetchHandler } from "../http/fetch-handler.ts";
import { parsedJson } from "../http/request-body.ts";
import { bodyOf, failure, json } from "../http/responses.ts";
import { requireAtLeastOne } from "../runtime/context/runtime-context.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { SweepOptions, SweepReport } from "../runtime/worker/sweep.ts";

/** Options of the handler for web requests. */
interface FetchOptions {
  readonly isAllowed: SecretCheck;
  readonly basePath: string;
  readonly bounds: Pick<SweepOptions, "limit" | "concurrency"> & { readonly timeoutMs: number };
}

/** The largest body of a request, in bytes. */
const maxBodyBytes = 64 * 1024;
/** The part of the time of a request that reading its body may take. */
const readingPart = 0.5;
/** The most executions that one request may name. */
const maxNamed = 100;

/** The methods of each path. Any other path gets 404, any other method 405. */
const methods: Readonly<Record<string, readonly string[]>> = { "/sweep": ["GET", "POST"], "/wake-up": ["POST"] };

/** Makes the handler that answers wake-ups and sweeps. @throws StepfoldError `OPTION_INVALID` */
export function fetchHandler(runtime: Pick<Runtime, "sweep">, { isAllowed, basePath, bounds }: FetchOptions): FetchHandler {
  if (typeof basePath !== "string" || !/^(\/[\w.~-]+)*$/.test(basePath)) {
    throw new StepfoldError("OPTION_INVALID", { option: "basePath", reason: 'must be a path without a slash at the end: "/api/stepfold"' });
  }
  requireAtLeastOne({ timeoutMs: bounds.timeoutMs });
  return async (request) => {
    // checked before anything else, so that a caller without the secret learns nothing
    if (!isAllowed(request.headers.get("authorization"))) return refusal(401, "secret missing or wrong", { "www-authenticate": "Bearer" });
    const { pathname } = new URL(request.url);
    const path = pathname.startsWith(`${basePath}/`) ? pathname.slice(basePath.length) : "";
    const allowed = Object.hasOwn(methods, path) ? methods[path] : undefined;
    if (!allowed) return refusal(404, "there are /sweep and /wake-up");
    if (!allowed.includes(request.method)) return refusal(405, "another method is needed", { allow: allowed.join(", ") });
    const { signal } = request;
    if (path === "/sweep") return answer(() => runtime.sweep({ ...bounds, signal }));
    const begunMs = systemEnvironment.monotonicMs();
    const body = await bodyOf(request, { maxBytes: maxBodyBytes, timeoutMs: bounds.timeoutMs * readingPart });
    if ("refusal" in body) return body.refusal;
    const ids = idsIn(body.bytes);
    if (!ids) return refusal(400, `the body must be {"workflowIds":[...]}, with 1 to ${maxNamed} ids`);
    const timeoutMs = bounds.timeoutMs - (systemEnvironment.monotonicMs() - begunMs);
    return answer(() => runtime.sweep({ ...bounds, timeoutMs, signal, wakeUps: ids.map((workflowId) => ({ workflowId })) }));
  };
}

/** Reads the ids in a body; null if the body is not valid. */
function idsIn(bytes: Uint8Array): readonly string[] | null {
  const { workflowIds } = (parsedJson(bytes)?.value ?? {}) as { readonly workflowIds?: unknown };
  if (!Array.isArray(workflowIds) || workflowIds.length === 0 || workflowIds.length > maxNamed) return null;
  return workflowIds.every(isWorkflowId) ? workflowIds : null;
}

async function answer(sweep: () => Promise<SweepReport>): Promise<Response> {
  try {
    return json(200, publicReport(await sweep()));
  } catch (error) {
    return failure(error);
  }
}

/** Returns a report without the messages of errors, which may quote confidential data. */
export function publicReport({ advanced, left, failed, isMore }: SweepReport): object {
  const codeOf = (error: unknown): string => (StepfoldError.is(error) ? error.code : "UNKNOWN");
  return { advanced, left, failed: failed.map(({ workflowId, error }) => ({ workflowId, code: codeOf(error) })), isMore };
}

function refusal(status: number, error: string, headers: Readonly<Record<string, string>> = {}): Response {
  return json(status, { error }, headers);
}
