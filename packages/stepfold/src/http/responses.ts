import { StepfoldError } from "../core/errors/stepfold-error.ts";
import { type BodyBounds, readRequestBody, statusOfRefusal, usualBounds } from "./request-body.ts";

/** A JSON response that no cache keeps. `no-referrer` keeps its URL, which may contain a token, from other sites. */
export function json(status: number, body: object, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", "referrer-policy": "no-referrer", ...headers },
  });
}

/** The body of a request, or the response that refuses it. */
export async function bodyOf(
  request: Request,
  bounds: BodyBounds = usualBounds,
): Promise<{ readonly bytes: Uint8Array<ArrayBuffer> } | { readonly refusal: Response }> {
  const body = await readRequestBody(request, bounds);
  return "refusal" in body ? { refusal: json(statusOfRefusal[body.refusal], { error: `the body is ${body.refusal}` }) } : body;
}

/** The error of a request whose body is not JSON in UTF-8. */
export function notJson(): StepfoldError {
  return new StepfoldError("VALUE_NOT_JSON", { what: "The body of the request", pointer: "", reason: "not JSON in UTF-8" });
}

/** The response for an error: its code, and the mistakes in a payload. Other texts are left out, because they may quote private data. */
export function failure(error: unknown): Response {
  if (!StepfoldError.is(error)) return json(500, { error: "UNKNOWN" });
  const issues = StepfoldError.is(error, "RESUME_INVALID") ? { issues: error.details.issues } : {};
  return json(error.status, { error: error.code, ...issues }, error.retryable ? { "retry-after": "5" } : {});
}
