import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, type TestContext } from "vitest";
import type { Target } from "./stored.ts";
import { targets } from "./targets.ts";

/** A folder and a store for a test, gone after it. Without its server the test is skipped, or fails with `REQUIRE_SERVICES=1`. */
export async function bench(name: string, skip: TestContext["skip"]): Promise<{ readonly folder: string; readonly target: Target }> {
  const folder = mkdtempSync(join(tmpdir(), "stepfold-kill9-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const target = await targets[name]!(folder);
  if (target) {
    onTestFinished(() => target.drop());
    return { folder, target };
  }
  if (process.env.REQUIRE_SERVICES === "1") throw new TypeError(`${name}: no server answers`);
  return skip(`NOT TESTED: no server answers for ${name}`);
}
