import { RequestError } from "stepfold/client";
import { expect, test } from "vitest";
import { failureOf, failureText } from "./failure.ts";

const at = Date.UTC(2026, 10, 22, 10, 2, 31);

test("an error of the client says code, text and request", () => {
  const error = new RequestError("STORE_UNAVAILABLE", "The database does not answer.", { status: 503, retryable: true, requestId: "r-1" });
  const failure = failureOf(error, at);
  expect(failure).toEqual({ code: "STORE_UNAVAILABLE", message: "The database does not answer.", requestId: "r-1", httpStatus: 503, at });
  expect(failureText(failure)).toBe("STORE_UNAVAILABLE: The database does not answer.\nrequest r-1\n2026-11-22T10:02:31.000Z");
});

test.each([
  new TypeError("fetch failed"),
  "text",
  null,
  undefined,
  { code: 7 },
])("whatever else is thrown means that there was no answer: %s", (thrown) => {
  expect(failureOf(thrown, at)).toEqual({
    code: "CONNECTION_LOST",
    message: "The server does not answer.",
    requestId: null,
    httpStatus: 0,
    at,
  });
});
