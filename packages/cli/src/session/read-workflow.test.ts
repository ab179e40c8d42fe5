import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { readWorkflow } from "./read-workflow.ts";

it("A24: a file that is far larger than a definition may be is refused, and is no bug of Stepfold", () => {
  const folder = mkdtempSync(join(tmpdir(), "stepfold-read-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "big.json");
  const fileOf = (bytes: number): string =>
    JSON.stringify({ id: "w", nodes: [{ id: "a", type: "set", data: { a: "x".repeat(bytes) } }], edges: [] });
  writeFileSync(path, fileOf(9_000_000));
  expect(() => readWorkflow(path, {})).toThrow(
    expect.objectContaining({ code: "FILE_UNREADABLE", message: expect.stringMatching(/larger than 8 MiB$/) }),
  );
  writeFileSync(path, fileOf(7_000_000));
  expect(readWorkflow(path, {}).issues).toMatchObject([{ severity: "error", message: expect.stringContaining("exceeds the limit") }]);
  expect(readWorkflow(path, { limits: { definitionBytes: 1e8, stringLength: 1e8 } }).valid).toBe(true);
});
