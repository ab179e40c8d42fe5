import { it } from "vitest";
import { tellNotTested } from "../../../../scripts/servers/service-url.ts";

/** Takes the place of a contract whose server does not answer: prints one line, or fails with REQUIRE_SERVICES=1. */
export function meetsNoServer(name: string, remedy = "scripts/services up"): void {
  const reason = `${name}: NOT TESTED, no server answers. ${remedy}`;
  it("meets its server", ({ skip }) => {
    tellNotTested(reason);
    skip(reason);
  });
}
