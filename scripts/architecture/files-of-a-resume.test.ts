import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const script = fileURLToPath(new URL("./files-of-a-resume.ts", import.meta.url));

it("resumes a workflow of two nodes through at most 55 files", () => {
  const files = execFileSync(process.execPath, [script], { encoding: "utf8" }).trim().split("\n");
  expect(files).toContain("core/transition/evolve.ts");
  expect(files.length, files.join("\n")).toBeLessThanOrEqual(55);
});
