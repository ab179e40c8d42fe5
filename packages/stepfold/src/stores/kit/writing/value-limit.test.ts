import { describe, expect, it } from "vitest";
import { startCommit, stepCommit } from "../../../testing/index.ts";
import { refuseOversize } from "./value-limit.ts";
import { writtenCommit } from "./written-commit.ts";

const written = (output: object) => writtenCommit(stepCommit(startCommit("order-1"), { output: output as never }));

describe("what a store cannot hold", () => {
  it("is refused with the size, the limit and the place of the largest value", () => {
    const commit = written({ small: 1, report: { "a/b": { pages: ["x".repeat(5_000), "y"] } } });
    expect(() => refuseOversize("dynamo", 4_000, commit)).toThrow(
      expect.objectContaining({
        code: "LIMIT_EXCEEDED",
        details: {
          what: 'Event 1 of execution "order-1"',
          limit: "dynamo value in bytes",
          max: 4_000,
          actual: JSON.stringify(commit.events[0]!.text).length - 2 - (commit.events[0]!.text.match(/"/g)?.length ?? 0),
          pointer: "/output/report/a~1b/pages/0",
        },
      }),
    );
  });

  it("is measured in bytes, not in characters", () => {
    const commit = written({ text: "ä".repeat(2_000) });
    expect(() => refuseOversize("dynamo", 3_000, commit)).toThrow("at most 3000");
    expect(() => refuseOversize("dynamo", 4_500, commit)).not.toThrow();
  });

  it("is named as the whole where no value is most of it", () => {
    const commit = written({ items: Array.from({ length: 100 }, () => "x".repeat(100)) });
    expect(() => refuseOversize("dynamo", 4_000, commit)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ pointer: "/output/items" }) }),
    );
  });
});
