import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

interface Told {
  readonly what: string;
  readonly once: { readonly count: number; readonly limit: string | null };
  readonly twice: { readonly count: number; readonly limit: string | null };
}

const script = fileURLToPath(new URL("./growth.fixture.ts", import.meta.url));
const all = JSON.parse(execFileSync(process.execPath, [script], { encoding: "utf8", maxBuffer: 1e8 })) as Told[];
const most = 2.2;

// The work is the number of blocks of our sources that run, so it is the same on every machine. bench/prices.ts measures time.
describe("twice as much of a hostile input costs at most 2.2 times the work, or ends in a limit", () => {
  it.each(all.map((told) => [told.what, told] as const))("%s", (_, { once, twice }) => {
    const limits = [null, "EXPRESSION_BUDGET", "EXPRESSION_INVALID", "LIMIT_EXCEEDED"];
    expect(limits).toContain(once.limit);
    expect(limits).toContain(twice.limit);
    expect(once.count).toBeGreaterThan(10);
    if (twice.limit === null) expect(twice.count / once.count).toBeLessThan(most);
  });
});
