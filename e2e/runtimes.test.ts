import { constants, setPriority } from "node:os";
import { describe, expect, it } from "vitest";
import { runOn, runtimeNames } from "../scripts/runtimes/runtimes.ts";
import { effort } from "../scripts/test/effort.ts";

// a low priority for this process and its children: see vitest.config.ts
setPriority(constants.priority.PRIORITY_LOW);

describe("the core, the engine and the expressions", () => {
  it.for(runtimeNames)("pass their tests on %s", { timeout: 600_000 }, async (name, { skip }) => {
    if (!effort.runtimes.includes(name)) skip("left to npm run storm -- runtimes");
    const { passed, failures } = await runOn(name);
    expect(failures).toEqual([]);
    expect(passed).toBeGreaterThan(3_000);
  });
});
