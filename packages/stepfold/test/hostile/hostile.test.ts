import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";
import { checkWorkflow } from "../../src/engine/workflow/prepared-workflow.ts";
import { WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { asking, engineOf, failing, giving, viaJson } from "../engine/engine.fixture.ts";
import { places, refused, refusedAsJson, refusedLarge } from "./hostile-values.fixture.ts";

const executor = giving(1) as never;
const definitions = { t: { executor } };
const hello = { id: "hello", nodes: [{ id: "a", type: "t" }], edges: [] };
const code = { a: asking({ ask: 1 }), b: giving(2) };
const { engine } = engineOf(code, ["a>b"]);
let paused: Snapshot;
let before: string;
let members: unknown;

beforeAll(async () => {
  paused = await engine.execute({});
  before = JSON.stringify(paused);
  members = Object.getOwnPropertyDescriptors(Object.prototype);
});

afterAll(() => {
  expect(JSON.stringify(paused)).toBe(before);
  expect(Object.getOwnPropertyDescriptors(Object.prototype)).toEqual(members);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});

/** All refused values in every place; the costly values only at the root and one level below it. */
const everywhere = [...Object.entries(refused), ...Object.entries(refusedLarge)].map(([name, make]) => ({
  name,
  values: places.slice(0, Object.hasOwn(refusedLarge, name) ? 2 : places.length).map((place) => () => place(make())),
}));
const asJson = [
  ...everywhere,
  ...Object.entries(refusedAsJson).map(([name, make]) => ({ name, values: places.map((place) => () => place(make())) })),
];
/** The values that exceed only a size. Whole definitions and snapshots may be larger than one value, so that they always load again. */
const tooLargeOnly = new Set(Object.keys(refusedLarge).filter((name) => !name.startsWith("depth")));
const refusal = expect.stringMatching(/^(VALUE_NOT_JSON|LIMIT_EXCEEDED)$/);

async function typed(act: () => unknown, codes: unknown = refusal): Promise<void> {
  let thrown: unknown = "nothing was thrown";
  try {
    await act();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(StepfoldError);
  expect((thrown as StepfoldError).code).toEqual(codes);
  expect((thrown as StepfoldError).message.length).toBeLessThan(5_000_000);
  expect(() => JSON.stringify(thrown)).not.toThrow();
}

it("is a corpus of more than 500 values", () => {
  expect(everywhere.flatMap(({ values }) => values).length).toBeGreaterThan(500);
});

describe("a definition", () => {
  it.each(asJson.filter(({ name }) => !tooLargeOnly.has(name)))("is refused, typed, with $name in it", async ({ values }) => {
    for (const make of values) {
      const definition = { ...hello, nodes: [{ id: "a", type: "t", data: make() }] };
      await typed(() => new WorkflowEngine({ workflow: definition, nodeDefinitions: definitions }), "DEFINITION_INVALID");
      await typed(() => new WorkflowEngine({ workflow: make(), nodeDefinitions: definitions }), "DEFINITION_INVALID");
      expect(checkWorkflow({ ...hello, [String(values.length)]: make() }, definitions).map(({ code }) => code)).toEqual(["NOT_JSON"]);
    }
  });

  const names = [...Object.getOwnPropertyNames(Object.prototype), "prototype", "then", "toJSON"];
  it.each(names)("may not call a type %s unless there is one, and may call a node so if that is harmless", async (name) => {
    await typed(
      () => new WorkflowEngine({ workflow: { ...hello, nodes: [{ id: "a", type: name }] }, nodeDefinitions: definitions }),
      "DEFINITION_INVALID",
    );
    const workflow = {
      id: "x",
      start: name,
      nodes: [
        { id: name, type: "t" },
        { id: "end", type: "t", data: `{{ nodes.${name}.last.data }}` },
      ],
      edges: [{ source: name, target: "end", sourceHandle: name }],
    };
    if (["__proto__", "constructor", "prototype"].includes(name)) {
      await typed(() => new WorkflowEngine({ workflow, nodeDefinitions: definitions }), "DEFINITION_INVALID");
      return;
    }
    const own = new WorkflowEngine({
      workflow,
      nodeDefinitions: { t: { executor: (data, { nodeId }) => ({ data: data ?? 1, nextHandles: nodeId === name ? [name] : [] }) } },
    });
    const end = await own.execute({ metadata: { [name]: 1 }, input: { [name]: 1 } });
    expect(end).toMatchObject({ status: "completed", steps: 2, output: 1 });
    expect(Object.keys(end.context).sort()).toEqual([name, "end"].sort());
    expect(await own.execute({ snapshot: viaJson(end) })).toEqual(end);
  });

  it.each(names)("does not take the handle %s for known because objects inherit it", async (name) => {
    const { engine } = engineOf({ a: { handles: ["x"], executor: giving(1, { nextHandle: name }) } });
    expect((await engine.execute({})).error?.code).toBe("HANDLE_UNKNOWN");
  });
});

describe("the input of an execution", () => {
  it.each(everywhere)("is refused, typed, with $name in it", async ({ values }) => {
    for (const make of values) {
      await typed(() => engine.execute({ input: make() }));
      await typed(() => engine.execute({ externalPayload: make() }));
      await typed(() => engine.execute({ metadata: { m: make() } }));
    }
  });
});

describe("the payload of a resume", () => {
  it.each(everywhere)("is refused, typed, with $name in it, and nothing changes", async ({ values }) => {
    for (const make of values) {
      await typed(() => engine.execute({ snapshot: paused, externalPayload: make() }));
      await typed(() => engine.send(paused, { type: "resume", payload: make() }));
    }
    expect(JSON.stringify(paused)).toBe(before);
  });
});

describe("the output of a node", () => {
  it.each(everywhere)("with $name in it fails the node, which says where", async ({ values }) => {
    for (const make of values) {
      const { engine } = engineOf(
        { a: () => ({ data: make() }), x: () => ({ data: { __pause: true } }), s: (_, step) => step.suspend(make()) },
        [],
      );
      for (const initialNodeId of ["a", "s"]) {
        const { status, error, context } = await engine.execute({ initialNodeId });
        expect(status).toBe("failed");
        expect(error).toMatchObject({ code: refusal, nodeId: initialNodeId });
        expect(error?.message).toMatch(/(is|at) |: \//);
        expect(context[initialNodeId]).toHaveLength(1);
      }
    }
  });

  it.each(
    Object.entries({ ...refused, ...refusedAsJson }),
  )("that is %s itself fails the node, or is read as an output, and never hangs", async (_, make) => {
    const { engine, clock } = engineOf({ a: () => make() });
    const running = engine.execute({});
    await clock.advance(600_000);
    const { status, error } = await running;
    if (status === "completed") return;
    expect(status).toBe("failed");
    expect(error?.message).toBeTruthy();
  });

  it.each(
    Object.entries({ ...refused, ...refusedAsJson }),
  )("that is never returned because %s is thrown fails the node", async (_, make) => {
    const { engine } = engineOf({ a: failing(make()), b: () => Promise.reject(make()) });
    for (const initialNodeId of ["a", "b"]) {
      const snapshot = await engine.execute({ initialNodeId, globals: { secrets: { key: "some-secret" } } as never });
      expect(snapshot.status).toBe("failed");
      expect(typeof snapshot.error?.message).toBe("string");
      expect(viaJson(snapshot)).toEqual(snapshot);
    }
  });
});

describe("a snapshot from outside", () => {
  const at = (pointer: "input" | "output" | "metadata" | "context" | "resumed" | "more", value: unknown): object => {
    const whole = viaJson(paused) as unknown as Record<string, unknown> & { activePaths: Record<string, unknown>[] };
    if (pointer === "context") whole.context = { a: [{ output: value, timestamp: 1 }] };
    else if (pointer === "resumed") whole.activePaths[0]!.resumed = { by: "payload", payload: value };
    else if (pointer === "metadata") whole.metadata = { m: value };
    else whole[pointer] = value;
    return whole;
  };

  it.each(asJson.filter(({ name }) => !tooLargeOnly.has(name)))("is refused, typed, with $name in it", async ({ values }) => {
    for (const make of values) {
      await typed(
        () => engine.execute({ snapshot: make() as object }),
        expect.stringMatching(/^(VALUE_NOT_JSON|LIMIT_EXCEEDED|SNAPSHOT_INVALID)$/),
      );
      for (const place of ["input", "output", "metadata", "context", "resumed", "more"] as const)
        await typed(() => engine.execute({ snapshot: at(place, make()) }));
      await typed(() => engine.send(at("input", make()), { type: "cancel" }));
    }
  });

  it.each<unknown>([
    -5,
    "5",
    2 ** 53 - 1,
    2 ** 53,
    Number.NaN,

    1.5,
    null,
    true,
    {},
    [5],
  ])("is refused with version %j", async (version) => {
    await typed(() => engine.execute({ snapshot: { ...paused, version } }), expect.stringMatching(/^(SNAPSHOT_INVALID|VALUE_NOT_JSON)$/));
  });

  it.each<[string, unknown]>([
    ["text", "text"],
    ["null", null],
    ["a standard schema without a function", { "~standard": { version: 1, validate: "x" } }],
    ["a standard schema of null", { "~standard": null }],
    ["a pattern that is none", { pattern: "[" }],
    ["a reference to itself", { $ref: "#" }],
    ["a reference to nowhere", { $ref: "https://nowhere.example/x" }],
    ["a type that is none", { type: 5 }],
    ["properties that are none", { properties: 5 }],
    ["a required that is none", { required: 5 }],
  ])("with a wait whose schema is %s answers with a typed error or goes on", async (_, schema) => {
    const forged = viaJson(paused) as unknown as { activePaths: { waits: object[] }[] };
    Object.assign(forged.activePaths[0]!.waits[0]!, { schema });
    try {
      expect((await engine.execute({ snapshot: forged, externalPayload: "x" })).status).toBe("completed");
    } catch (error) {
      expect(StepfoldError.is(error)).toBe(true);
    }
  });

  it("that says of itself what is not so hurts only itself", async () => {
    const lies = [
      { status: "error" },
      { status: "active" },
      { currentNodeId: "b" },
      { retryState: { nodeId: "zzz", attempts: -1 } },
      { steps: 1e9 },
      { sizeBytes: 1e12 },
      { activePaths: [{ ...paused.activePaths[0]!, turn: 2 ** 53 - 1 }] },
      { activePaths: [{ ...paused.activePaths[0]!, status: "ready" }] },
      { activePaths: [{ ...paused.activePaths[0]!, status: "retrying", nextRetryAt: 0 }] },
      {
        activePaths: [paused.activePaths[0]!, { ...paused.activePaths[0]!, id: "0.1", waits: [{ id: "0@2", kind: "timer", resumeAt: 0 }] }],
      },
    ];
    for (const lie of lies) {
      try {
        const next = await engine.execute({ snapshot: { ...viaJson(paused), ...lie } });
        expect(["active", "paused", "error", "completed", "failed"]).toContain(next.status);
      } catch (error) {
        expect(StepfoldError.is(error)).toBe(true);
      }
    }
  });
});
