import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { describe, expect, it } from "vitest";
import { library } from "../../../../scripts/public-entries.ts";

describe("the client in a page", () => {
  it("needs at most 4 KB, compressed, and nothing else of the library", async () => {
    const bundle = await rolldown({ input: `${library}/src/client/index.ts`, platform: "neutral" });
    const { output } = await bundle.generate({ format: "esm", minify: true });
    await bundle.close();
    expect(output.map(({ type }) => type)).toEqual(["chunk"]);
    const [{ code, imports, moduleIds }] = output;
    expect(imports).toEqual([]);
    expect(moduleIds.filter((id) => !id.includes("/src/client/"))).toEqual([]);
    expect(gzipSync(code, { level: 9 }).byteLength).toBeLessThanOrEqual(4_096);
  });
});
