import { join } from "node:path";
import { expect, it } from "vitest";
import { effort } from "../scripts/test/effort.ts";
import { newFolder, root, start } from "./cli.ts";

const script = join(root, "e2e/large-snapshots-process.ts");

it("AUDIT 6: many executions of 11 MB that are due at one moment are driven in a small heap", { timeout: 240_000 }, async () => {
  const { executions, heapMb } = effort.largeSnapshots;
  const cwd = newFolder();
  const run = (options: readonly string[], what: string) =>
    start(process.execPath, [...options, script, "large.db", what, String(executions)], { cwd }).ended;
  expect(await run([], "fill")).toMatchObject({ code: 0 });
  const driven = await run([`--max-old-space-size=${heapMb}`], "drive");
  expect(driven).toMatchObject({ code: 0, stderr: "" });
});
