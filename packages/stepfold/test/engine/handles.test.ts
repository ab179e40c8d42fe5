import { describe, expect, it } from "vitest";
import { checkWorkflow } from "../../src/engine/workflow/prepared-workflow.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import { engineOf, flowOf, giving } from "./engine.fixture.ts";

const nodesOf = (context: object): string[] => Object.keys(context).sort();

describe("the handle that a node names", () => {
  it("chooses the edges it leaves by; none means the default ones", async () => {
    const run = async (nextHandle: unknown): Promise<string[]> => {
      const { engine } = engineOf(
        { a: giving(1, nextHandle === "absent" ? {} : { nextHandle }), yes: giving(1), no: giving(1), plain: giving(1) },
        ["a>yes@yes", "a>no@no", "a>plain"],
      );
      return nodesOf((await engine.execute({})).context);
    };
    expect(await run("yes")).toEqual(["a", "yes"]);
    expect(await run("no")).toEqual(["a", "no"]);
    for (const none of ["absent", undefined, null, ""]) expect(await run(none)).toEqual(["a", "plain"]);
  });

  it("fails the node with HANDLE_UNKNOWN if it has neither an edge nor a declaration", async () => {
    const { engine } = engineOf({ a: { handles: ["yes"], executor: giving(1, { nextHandle: "yse" }) }, b: giving(1) }, ["a>b@no"]);
    expect(await engine.execute({})).toMatchObject({
      status: "failed",
      error: { code: "HANDLE_UNKNOWN", message: expect.stringContaining("Known handles: no, yes") },
    });
  });

  it("may be declared without an edge: then the path ends there", async () => {
    const { engine } = engineOf({ a: { handles: ["yes", "no"], executor: giving(7, { nextHandle: "no" }) }, b: giving(1) }, ["a>b@yes"]);
    expect(await engine.execute({})).toMatchObject({ status: "completed", output: 7 });
  });

  it.each<[string, object]>([
    ["none", {}],
    ["null", { nextHandle: null }],
    ["an empty one", { nextHandle: "" }],
  ])("must not be missing where handles are declared and no default edge leaves: %s", async (_, more) => {
    const { engine } = engineOf({ a: { handles: ["yes", "no"], executor: giving(7, more) }, b: giving(1) }, ["a>b@yes"]);
    expect(await engine.execute({})).toMatchObject({
      status: "failed",
      error: { code: "HANDLE_MISSING", message: expect.stringContaining("yes, no") },
    });
  });

  it("may be missing where the default one is declared, or has an edge", async () => {
    const { engine } = engineOf({ a: { handles: ["", "fail"], executor: giving(7) }, b: giving(1) }, ["a>b@fail"]);
    expect(await engine.execute({})).toMatchObject({ status: "completed", output: 7 });
    const { engine: other } = engineOf({ a: { handles: ["fail"], executor: giving(7) }, b: giving(8) }, ["a>b"]);
    expect(await other.execute({})).toMatchObject({ status: "completed", output: 8 });
  });

  it.each<[string, object]>([
    ["a number", { nextHandle: 5 }],
    ["an object", { nextHandle: { toString: () => "yes" } }],
    ["text where a list is asked for", { nextHandles: "yes" }],
    ["null where a list is asked for", { nextHandles: null }],
    ["a list with a number", { nextHandles: ["yes", 5] }],
    ["a list with a hole", { nextHandles: Array(2) }],
  ])("must be text: %s", async (_, more) => {
    const { engine } = engineOf({ a: giving(1, more), b: giving(1) }, ["a>b@yes"]);
    expect(await engine.execute({})).toMatchObject({
      status: "failed",
      error: { code: "OUTPUT_INVALID", message: expect.stringContaining("/nextHandle") },
    });
  });
});

describe("what an executor returns", () => {
  it.each<[unknown, string]>([
    [undefined, "not nothing"],
    [null, "not null"],
    [[1], "not an array"],
    ["text", "not a string"],
    [() => 1, "not a function"],
    [5, "not a number"],
  ])("must be an object: %j is refused", async (returned, said) => {
    const { engine } = engineOf({ a: () => returned });
    expect(await engine.execute({})).toMatchObject({
      status: "failed",
      error: { code: "OUTPUT_INVALID", message: expect.stringContaining(said) },
    });
  });

  it("gives null where it says no data, and what an expression does not find is null, too", async () => {
    const { engine } = engineOf({ a: () => ({}), b: (data) => ({ data: [data] }) }, ["a>b"], {
      parts: { b: { data: "{{ input.none }}" } },
    });
    expect(await engine.execute({ input: {} })).toMatchObject({ status: "completed", output: [null], context: { a: [{ output: null }] } });
  });
});

describe("several handles", () => {
  it("fork, in the order named", async () => {
    const ran: string[] = [];
    const note = (id: string) => () => {
      ran.push(id);
      return { data: id };
    };
    const { engine } = engineOf({ a: giving(1, { nextHandles: ["y", "x"] }), b: note("b"), c: note("c"), d: note("d") }, [
      "a>b@x",
      "a>c@y",
      "a>d@x",
    ]);
    expect(await engine.execute({ concurrency: 1 })).toMatchObject({ status: "completed", steps: 4 });
    expect(ran).toEqual(["c", "b", "d"]);
  });

  it("none of them ends the path, whatever is declared", async () => {
    const { engine } = engineOf({ a: { handles: ["x"], executor: giving(1, { nextHandles: [] }) }, b: giving(2) }, ["a>b@x"]);
    expect(await engine.execute({})).toMatchObject({ status: "completed", output: 1, steps: 1 });
  });
});

describe("edges", () => {
  it("drawn twice are taken twice", async () => {
    const { engine } = engineOf({ a: giving(1), b: giving(2) }, ["a>b", "a>b"]);
    expect(await engine.execute({})).toMatchObject({ status: "completed", context: { b: [{ pathId: "0" }, { pathId: "0.1" }] } });
  });

  it("that lead back to their node make a loop", async () => {
    const { engine } = engineOf(
      { a: (_, step) => ({ data: step.context.a?.length ?? 0, nextHandle: (step.context.a?.length ?? 0) < 4 ? "again" : null }) },
      ["a>a@again"],
    );
    const snapshot = await engine.execute({});
    expect(snapshot).toMatchObject({ status: "completed", output: 4, steps: 5 });
  });

  it("of a handle that the type does not declare are worth a warning", () => {
    const code = { a: { handles: ["approved"], executor: giving(1) }, b: giving(1) };
    const definitions = { "a-type": code.a as never, "b-type": { executor: code.b as never } };
    const messages = checkWorkflow(flowOf(code, ["a>b@aproved", "a>b@error", "a>b@timeout", "a>b", "a>b@zzzzzz"]), definitions).map(
      ({ code, severity, message }) => `${severity} ${code} ${message}`,
    );
    expect(messages).toEqual([
      'warning HANDLE_UNKNOWN an edge leaves by no handle, and type "a-type" leaves by: approved. Set its "sourceHandle", or list "" in "handles" of the type if it may leave by no handle',
      'warning HANDLE_UNKNOWN an edge leaves by "aproved", which type "a-type" does not declare. Did you mean "approved"?',
      'warning HANDLE_UNKNOWN an edge leaves by "zzzzzz", which type "a-type" does not declare',
    ]);
  });
});

describe("keep", () => {
  it("bounds the results of a node that stay in the context", async () => {
    const { engine } = engineOf(
      { a: (_, step) => ({ data: step.attempt, nextHandle: (step.context.a?.at(-1)?.version ?? 0) < 8 ? "again" : null }) },
      ["a>a@again"],
      { parts: { a: { keep: 3 } } },
    );
    const snapshot = await engine.execute({});
    expect(snapshot.context.a?.map(({ version }) => version)).toEqual([7, 8, 9]);
  });
});

describe("SUITES 1: an edge that is never taken", () => {
  const warningsOf = (type: string, edge: object): readonly string[] => {
    const nodes = [
      { id: "a", type, data: type === "end" ? null : {} },
      { id: "b", type: "noop" },
    ];
    const issues = checkWorkflow({ id: "w", nodes, edges: [{ source: "a", target: "b", ...edge }] }, builtinNodes);
    return issues.filter(({ code }) => code === "HANDLE_UNKNOWN").map(({ message }) => message);
  };

  it.each([
    ["approval", "approved, rejected"],
    ["if", "true, false"],
  ])("is told of a %s, which leaves by a handle", (type, handles) => {
    expect(warningsOf(type, {})).toEqual([expect.stringContaining(`leaves by: ${handles}`)]);
    expect(warningsOf(type, { sourceHandle: handles.split(", ")[0] })).toEqual([]);
  });

  it.each(["end", "fail"])("is told of a node of type %s, after which nothing comes", (type) => {
    expect(warningsOf(type, {})).toEqual([expect.stringContaining("ends the path")]);
  });

  it("is not told of a type that declares no handles, or the default one", () => {
    expect(warningsOf("noop", {})).toEqual([]);
  });
});
