import { describe, expect, it } from "vitest";
import { at } from "../../../test/core/explain.fixture.ts";
import { askedWaits } from "./asked-waits.ts";

const of = (...waits: object[]) => askedWaits(at({ nodeId: "ask", status: "suspended", waits }).activePaths);

describe("what a list says of waits that somebody can answer", () => {
  it("is all that is asked, and nothing of other waits", () => {
    const external = {
      id: "0@1",
      kind: "external",
      payload: 7,
      schema: { type: "object" },
      responders: ["ada"],
      openedAt: 1,
      timeoutAt: 2,
    };
    const others = ["timer", "child", "children", "delivery"].map((kind, index) => ({ id: `0@1.${index}`, kind }));
    const signal = { id: "0@2", kind: "signal", signal: "paid", key: "k" };
    expect(of({ ...external, quorum: 2, answers: [] }, ...others, signal, { id: "0@3", kind: "incident" })).toEqual([
      { nodeId: "ask", ...external },
      { nodeId: "ask", ...signal },
      { nodeId: "ask", id: "0@3", kind: "incident" },
    ]);
    expect(askedWaits(at({ nodeId: "run", status: "ready" }).activePaths)).toEqual([]);
  });

  it("says what is only in the events, or in the type of the node", () => {
    const elsewhere = { id: "0@1", kind: "external", inEvents: { payload: "7/waits/0/payload", schema: "7/waits/0/schema" } };
    expect(of(elsewhere)).toEqual([{ nodeId: "ask", id: "0@1", kind: "external", lacks: ["payload", "schema"] }]);
    expect(of({ ...elsewhere, payload: 1, schema: true })).toEqual([
      { nodeId: "ask", id: "0@1", kind: "external", payload: 1, schema: true },
    ]);
    expect(of({ id: "0@1", kind: "external", typeSchema: "abc" })).toMatchObject([{ lacks: ["schema"] }]);
    expect(of({ id: "0@1", kind: "external", typeSchema: "abc", schema: true })[0]).not.toHaveProperty("lacks");
  });

  it("ends after 20 waits, and leaves out what would make it too long", () => {
    const many = Array.from({ length: 25 }, (_, index) => ({ id: `0@${index}`, kind: "external" }));
    expect(of(...many)).toHaveLength(20);
    const long = (id: string, more: object = {}) => ({ id, kind: "external", payload: "x".repeat(5_000), ...more });
    const [first, ...rest] = of(
      long("a"),
      long("b", { schema: true }),
      { ...long("c"), payload: undefined, schema: { const: "x".repeat(9_000) } },
      { id: "d", kind: "signal", signal: "x".repeat(9_000), inEvents: { payload: "1", schema: "1" } },
      { id: "e", kind: "signal", signal: "x".repeat(9_000) },
    );
    expect(first).toMatchObject({ id: "a", payload: "x".repeat(5_000) });
    expect(rest.map(({ id, lacks, payload, schema }) => [id, lacks, payload, schema])).toEqual([
      ["b", ["payload", "schema"], undefined, undefined],
      ["c", ["schema"], undefined, undefined],
      ["d", ["payload", "schema"], undefined, undefined],
      ["e", undefined, undefined, undefined],
    ]);
  });
});
