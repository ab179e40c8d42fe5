import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, type TestContext } from "vitest";
import { notTested } from "./not-tested.ts";
import type { Target } from "./stored.ts";
import { openTarget } from "./targets.ts";

/** A folder and a store for a test, with a queue if the name has one (`postgres + bullmq`), gone after it. Without its server the test is skipped, or fails with `REQUIRE_SERVICES=1`. */
export async function bench(name: string, skip: TestContext["skip"]): Promise<{ readonly folder: string; readonly target: Target }> {
  const folder = mkdtempSync(join(tmpdir(), "stepfold-kill9-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const target = await openTarget(name, folder);
  if (target) {
    onTestFinished(() => target.drop());
    return { folder, target };
  }
  return notTested(`no server answers for ${name}: scripts/services up`, skip);
}
