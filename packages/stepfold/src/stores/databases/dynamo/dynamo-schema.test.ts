import { describe, expect, it } from "vitest";
import type { DynamoDocumentClient } from "./dynamo-client.ts";
import { createDynamoTable, dynamoStore, dynamoTable } from "./index.ts";

const nobody = { get: async () => ({}), transactWrite: async () => ({}) } as unknown as DynamoDocumentClient;

describe("the table", () => {
  it("is plain data, and its indexes hold nothing that changes with a step", () => {
    const table = dynamoTable("workflows");
    expect(JSON.parse(JSON.stringify(table))).toEqual(table);
    const projected = table.GlobalSecondaryIndexes.flatMap(({ Projection }) =>
      "NonKeyAttributes" in Projection ? Projection.NonKeyAttributes : [],
    );
    expect(new Set(projected)).toEqual(new Set(["definitionId", "permitLimit", "status", "tags"]));
  });

  it("is left as it is if it is there, and waited for", async () => {
    let asked = 0;
    const there = Object.assign(new Error("there"), { name: "ResourceInUseException" });
    const client = {
      createTable: () => Promise.reject(there),
      describeTable: async () => ({ Table: { TableStatus: ++asked > 1 ? "ACTIVE" : "CREATING" } }),
    };
    await createDynamoTable(client, "workflows");
    expect(asked).toBe(2);
  });

  it("cannot be made without the right to", async () => {
    const denied = Object.assign(new Error("no"), { name: "AccessDeniedException" });
    const client = { createTable: () => Promise.reject(denied), describeTable: async () => ({}) };
    await expect(createDynamoTable(client, "workflows")).rejects.toMatchObject({ code: "STORE_REJECTED" });
  });
});

describe("options of a DynamoDB store", () => {
  it.each([
    ["table", { table: "" }],
    ["prefix", { table: "t", prefix: "a#b" }],
    ["prefix", { table: "t", prefix: "x".repeat(49) }],
    ["shards", { table: "t", shards: 0 }],
    ["shards", { table: "t", shards: 65 }],
    ["shards", { table: "t", shards: 1.5 }],
    ["maxValueBytes", { table: "t", maxValueBytes: 0 }],
  ])("are refused when %s is out of range", (option, options) => {
    expect(() => dynamoStore(nobody, options)).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID", details: expect.objectContaining({ option }) }),
    );
  });
});
