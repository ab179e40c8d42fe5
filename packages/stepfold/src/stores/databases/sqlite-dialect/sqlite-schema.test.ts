import { expect, it } from "vitest";
import { sqliteSchema, sqliteSchemaByName } from "./sqlite-schema.ts";

it("has no semicolon in a comment: programs that run a file of statements may cut there", () => {
  const comments = [...sqliteSchema, ...sqliteSchemaByName].flatMap((statement) => statement.match(/--.*/g) ?? []);
  expect(comments.length).toBeGreaterThan(20);
  expect(comments.filter((comment) => comment.includes(";"))).toEqual([]);
});
