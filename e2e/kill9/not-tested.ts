import type { TestContext } from "vitest";
import { tellNotTested } from "../../scripts/servers/service-url.ts";

/** Skips a test, loudly, because this machine lacks something; with `REQUIRE_SERVICES=1` that is a failure. */
export function notTested(why: string, skip: TestContext["skip"]): never {
  tellNotTested(`NOT TESTED: ${why}`);
  return skip(`NOT TESTED: ${why}`);
}
