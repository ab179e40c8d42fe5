import { parsedJson, readRequestBody } from "stepfold/http";
import { RefusedRequest, type ServerCode } from "../guard/problem.ts";
import { isObject } from "./members.ts";

/** The most bytes of a body, and the longest time that it may take to come. */
const bounds = { maxBytes: 2 * 1024 * 1024, timeoutMs: 30_000 };

const codes: Readonly<Record<"too large" | "too slow" | "interrupted", ServerCode>> = {
  "too large": "BODY_TOO_LARGE",
  "too slow": "BODY_TOO_SLOW",
  interrupted: "REQUEST_INVALID",
};

/**
 * Reads the body of a request, which must be a JSON object. A request without a body has an empty one.
 *
 * @throws RefusedRequest `MEDIA_TYPE`, `BODY_TOO_LARGE`, `BODY_TOO_SLOW`, `REQUEST_INVALID`
 */
export async function readBody(request: Request): Promise<Readonly<Record<string, unknown>>> {
  const type = request.headers.get("content-type");
  const isJson = type !== null && /^application\/json\s*(?:;|$)/i.test(type.trim());
  // a form of another site can send other types without asking
  if (!isJson && (type !== null || request.body !== null))
    throw new RefusedRequest("MEDIA_TYPE", "Send the body as JSON, with the header content-type: application/json.");
  const body = await readRequestBody(request, bounds);
  if ("refusal" in body)
    throw new RefusedRequest(codes[body.refusal], `The body is ${body.refusal}: at most ${bounds.maxBytes} bytes in 30 s.`);
  if (body.bytes.byteLength === 0) return {};
  const parsed = parsedJson(body.bytes);
  if (!parsed) throw new RefusedRequest("REQUEST_INVALID", "The body is not JSON in UTF-8.");
  if (!isObject(parsed.value)) throw new RefusedRequest("REQUEST_INVALID", "The body must be a JSON object.");
  return parsed.value;
}
