import type { TestContext } from "vitest";
import { tellNotTested } from "../../scripts/servers/service-url.ts";

/** Skips a test with a message, because this machine lacks something. With `REQUIRE_SERVICES=1` the test fails instead. */
export function notTested(why: string, skip: TestContext["skip"]): never {
  tellNotTested(`NOT TESTED: ${why}`);
  return skip(`NOT TESTED: ${why}`);
}
