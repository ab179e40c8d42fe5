import type { TestContext } from "vitest";

/** Skips a test, loudly, because this machine lacks something; with `REQUIRE_SERVICES=1` that is a failure. */
export function notTested(why: string, skip: TestContext["skip"]): never {
  if (process.env.REQUIRE_SERVICES === "1") throw new TypeError(why);
  console.warn(`!!! NOT TESTED: ${why}`);
  return skip(`NOT TESTED: ${why}`);
}
