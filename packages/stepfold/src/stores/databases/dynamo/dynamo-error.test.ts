import { describe, expect, it } from "vitest";
import { dynamoError, isCongestion, isFailedCondition } from "./dynamo-error.ts";

/** An error as the AWS SDK makes it. */
function awsError(name: string, more: object = {}): Error {
  return Object.assign(new Error(`${name} happened`), { name, ...more });
}

const cancelled = (...codes: string[]): Error =>
  awsError("TransactionCanceledException", { CancellationReasons: codes.map((Code) => ({ Code })) });

describe("errors of DynamoDB", () => {
  it.each([
    awsError("ProvisionedThroughputExceededException"),
    awsError("ThrottlingException"),
    awsError("RequestLimitExceeded"),
    awsError("InternalServerError", { $metadata: { httpStatusCode: 500 } }),
    awsError("SomethingNew", { $metadata: { httpStatusCode: 503 } }),
    awsError("TransactionInProgressException"),
    awsError("TimeoutError"),
    awsError("Error", { code: "ECONNRESET" }),
    awsError("Error", { code: "ENOTFOUND" }),
    cancelled("TransactionConflict", "None"),
    cancelled("None", "ThrottlingError"),
  ])("that may pass are STORE_UNAVAILABLE: %s", (cause) => {
    expect(dynamoError("workflows", cause)).toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true, cause });
  });

  it.each([
    awsError("ValidationException", { $metadata: { httpStatusCode: 400 } }),
    awsError("AccessDeniedException"),
    awsError("UnrecognizedClientException"),
    cancelled("ValidationError"),
    new TypeError("undefined is not a function"),
    "text",
    null,
  ])("that stay are STORE_REJECTED: %s", (cause) => {
    expect(dynamoError("workflows", cause)).toMatchObject({ code: "STORE_REJECTED", details: { store: "dynamo" } });
  });

  it("say what to do about a table that is missing or another", () => {
    const missing = dynamoError("workflows", awsError("ResourceNotFoundException"));
    expect(missing.details).toMatchObject({ reason: expect.stringContaining('createDynamoTable(client, "workflows")') });
    const other = dynamoError(
      "workflows",
      Object.assign(awsError("ValidationException"), { message: "does not have the specified index: due" }),
    );
    expect(other.details).toMatchObject({ reason: expect.stringContaining('dynamoTable("workflows")') });
  });

  it("tell who met another writer from who was refused", () => {
    expect(isCongestion(cancelled("None", "TransactionConflict"))).toBe(true);
    expect(isCongestion(cancelled("ConditionalCheckFailed", "TransactionConflict"))).toBe(false);
    expect(isCongestion(awsError("TransactionConflictException"))).toBe(true);
    expect(isCongestion(awsError("AccessDeniedException"))).toBe(false);
  });

  it("tell that a condition of a write did not hold", () => {
    expect(isFailedCondition(cancelled("None", "ConditionalCheckFailed"))).toBe(true);
    expect(isFailedCondition(awsError("ConditionalCheckFailedException"))).toBe(true);
    expect(isFailedCondition(cancelled("TransactionConflict"))).toBe(false);
    expect(isFailedCondition(awsError("ThrottlingException"))).toBe(false);
    expect(isFailedCondition(null)).toBe(false);
  });
});
