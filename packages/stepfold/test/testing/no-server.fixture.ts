import { it } from "vitest";

/** In place of a contract whose server does not answer: one loud line, with REQUIRE_SERVICES=1 a failure. */
export function meetsNoServer(name: string, remedy = "scripts/services up"): void {
  const reason = `${name}: NOT TESTED, no server answers. ${remedy}`;
  it("meets its server", ({ skip }) => {
    if (process.env.REQUIRE_SERVICES === "1") throw new TypeError(reason);
    console.warn(reason);
    skip(reason);
  });
}
