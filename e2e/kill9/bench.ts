import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, type TestContext } from "vitest";
import { notTested } from "./not-tested.ts";
import type { Target } from "./stored.ts";
import { openTarget } from "./targets.ts";

/**
 * Makes a folder and a store for a test, with a queue if the name has one (`postgres + bullmq`), and removes both after the test.
 * Without its server the test is skipped, or fails with `REQUIRE_SERVICES=1`.
 *
 * @param atEnd the function `onTestFinished` of the test's own context, needed if the tests of a file run concurrently
 */
export async function bench(
  name: string,
  skip: TestContext["skip"],
  atEnd: TestContext["onTestFinished"] = onTestFinished,
): Promise<{ readonly folder: string; readonly target: Target }> {
  const folder = mkdtempSync(join(tmpdir(), "stepfold-kill9-"));
  atEnd(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const target = await openTarget(name, folder);
  if (target) {
    atEnd(() => target.drop());
    return { folder, target };
  }
  return notTested(`no server answers for ${name}: scripts/services up`, skip);
}
