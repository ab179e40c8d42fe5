import { MongoNetworkError, MongoServerError, MongoServerSelectionError, MongoWriteConcernError } from "mongodb";
import { describe, expect, it } from "vitest";
import { isDuplicate, mongoError } from "./mongo-error.ts";

const serverError = (code: number, message = "no", more: object = {}) => new MongoServerError({ message, code, ...more });

describe("an error of MongoDB", () => {
  it.each([
    ["a connection that ended", new MongoNetworkError("connection 1 to 127.0.0.1:27017 closed")],
    ["no server", new MongoServerSelectionError("connect ECONNREFUSED", {} as never)],
    ["an election", serverError(10107, "not primary")],
    ["a shutdown", serverError(91)],
    ["a write conflict", serverError(112)],
    ["a full disk", serverError(14031)],
    [
      "a majority that did not answer in time",
      new MongoWriteConcernError({ writeConcernError: { code: 64, errmsg: "waiting timed out" } } as never),
    ],
    ["what the server says may be repeated", serverError(1, "no", { errorLabels: ["RetryableWriteError"] })],
  ])("may pass: %s", (_, cause) => {
    expect(mongoError(cause)).toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true, cause });
  });

  it.each([
    ["no right", serverError(13, "not authorized on workflows")],
    ["a wrong password", serverError(18, "Authentication failed.")],
    ["a document that is too large", serverError(17419)],
    ["a mistake in a program", new TypeError("x is not a function")],
  ])("stays: %s", (_, cause) => {
    expect(mongoError(cause)).toMatchObject({ code: "STORE_REJECTED", retryable: false, cause });
  });

  it("tells no values and no passwords", () => {
    const duplicate = serverError(11000, 'E11000 duplicate key error collection: a.b index: c dup key: { name: "Ada Lovelace" }');
    expect(mongoError(duplicate).message).not.toContain("Ada");
    expect(mongoError(new MongoNetworkError("cannot reach mongodb://ada:secret@host/db")).message).not.toContain("secret");
  });

  it("is a duplicate only if nothing else went wrong", () => {
    const each = (...codes: number[]) => ({ writeErrors: codes.map((code) => ({ code })) });
    expect(isDuplicate(serverError(11000))).toBe(true);
    expect(isDuplicate(Object.assign(serverError(11000), each(11000, 11000)))).toBe(true);
    expect(isDuplicate(Object.assign(serverError(11000), each(11000, 17419)))).toBe(false);
    const unsafe = { ...each(11000), result: { getWriteConcernError: () => ({ code: 64 }) } };
    expect(isDuplicate(Object.assign(serverError(11000), unsafe))).toBe(false);
    expect(isDuplicate(serverError(112))).toBe(false);
  });
});
