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

  it("tell only of the present run", () => {
    const step = { pathId: "0", turn: 1, attempt: 1, startedAt: 0, at: 5 };
    const lines = resultLines(
      [
        { ...step, type: "completed", version: 1, nodeId: "a", output: "old" },
        {
          ...step,
          type: "continued",
          version: 2,
          nodeId: "b",
          run: 2,
          definition: { id: "w", hash: "x" },
          firstNodeId: "a",
          metadata: {},
          totalExecutionTime: 0,
        },
        { ...step, type: "completed", version: 3, nodeId: "a", pathId: "1", output: "new" },
      ],
      { paint: plainPaint, nodeWidth: 2 },
    );
    expect(lines).toEqual(['✔ a   5 ms  "new"']);
  });

  it("USE, small: name the items that failed, also where later ones did not", async () => {
    const inner = flow(
      "inner",
      { odd: ["if", { condition: "{{ input % 2 === 1 }}" }], bad: ["fail", { message: "No {{ input }}" }], good: ["set", { x: 1 }] },
      ["odd>bad@true", "odd>good@false"],
    );
    const each = { workflow: "inner", items: [1, 2, 3, 4], concurrency: 1, toleratedFailures: 4 };
    const engine = engineOf(flow("w", { each: ["map", each] }, [], { workflows: { inner } }));
    const events = (await played(engine)).map(({ event }) => event);
    const lines = resultLines(events, { paint: plainPaint, nodeWidth: 12 }).map((line) => line.replace(/\d+ ms/, "N ms"));
    expect(lines).toContainEqual("✖ each[…]/bad   2 attempts  N ms  failed at each[0] and each[2]: No 3");
    expect(lines).toContainEqual('✔ each[…]/good  2 times  N ms  {"x":1}');
  });

  it("USE, small: do not hide a failure behind an item that went well later", async () => {
    const inner = flow("inner", { read: ["set", { x: "{{ input.a.b }}" }] });
    const each = { workflow: "inner", items: [{}, { a: { b: 1 } }], concurrency: 1, toleratedFailures: 1 };
    const engine = engineOf(flow("w", { each: ["map", each] }, [], { workflows: { inner } }));
    const events = (await played(engine)).map(({ event }) => event);
    const [line] = resultLines(events, { paint: plainPaint, nodeWidth: 0 });
    expect(line).toMatch(/^✖ each\[…\]\/read .*failed at each\[0\]: /);
  });
});
