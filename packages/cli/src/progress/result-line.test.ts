import { describe, expect, it } from "vitest";
import { engineOf, flow, played } from "../../test/flow.fixture.ts";
import { plainPaint } from "../text/paint.ts";
import { resultLines } from "./result-line.ts";

describe("resultLines", () => {
  it("put the items of a map together, and tell what a node came to last", async () => {
    const inner = flow("inner", { double: ["set", { x: "{{ input }}" }] });
    const engine = engineOf(
      flow("w", { each: ["map", { workflow: "inner", items: [1, 2, 3] }], bad: ["fail", { message: "Enough" }] }, ["each>bad"], {
        workflows: { inner },
      }),
    );
    const events = (await played(engine)).map(({ event }) => event);
    const lines = resultLines(events, { paint: plainPaint, nodeWidth: 14 });
    expect(lines.map((line) => line.replace(/\d+ ms/, "N ms"))).toEqual([
      '✔ each[…]/double  3 times  N ms  {"x":3}',
      '✔ each            [{"x":1},{"x":2},{"x":3}]',
      "✖ bad             N ms  Enough",
    ]);
  });
});
