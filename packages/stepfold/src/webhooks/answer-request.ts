import { StepfoldError } from "../core/errors/stepfold-error.ts";
import { type BodyRefusal, readRequestBody } from "../serverless/request-body.ts";

/** Of a body, in bytes; and how long it may take, in milliseconds. */
const bounds = { maxBytes: 1024 * 1024, timeoutMs: 10_000 };
const refusedBodies: Readonly<Record<BodyRefusal, number>> = { "too large": 413, "too slow": 408, "broken off": 400 };

/** An answer that is not kept anywhere, and tells no other site where it was asked for. */
export function json(status: number, body: object, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", "referrer-policy": "no-referrer", ...headers },
  });
}

/** The body of a request, or the answer that refuses it. */
export async function bodyOf(request: Request): Promise<{ readonly text: string } | { readonly refusal: Response }> {
  const body = await readRequestBody(request, bounds);
  return "refusal" in body ? { refusal: json(refusedBodies[body.refusal], { error: `the body is ${body.refusal}` }) } : body;
}

/** JSON of a body; undefined if it is none. */
export function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/** The answer for what was thrown: the code, and what is wrong with a payload. Other texts may quote what is nobody's business. */
export function failure(error: unknown): Response {
  if (!StepfoldError.is(error)) return json(500, { error: "UNKNOWN" });
  const issues = StepfoldError.is(error, "RESUME_INVALID") ? { issues: error.details.issues } : {};
  return json(error.status, { error: error.code, ...issues }, error.retryable ? { "retry-after": "5" } : {});
}
