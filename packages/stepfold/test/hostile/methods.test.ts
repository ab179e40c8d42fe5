import { describe, expect, it } from "vitest";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import { WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { createGuest } from "../../src/guest/index.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import { createRuntime } from "../../src/runtime/index.ts";
import { schedules } from "../../src/schedules/index.ts";
import { memoryStore } from "../../src/stores/databases/memory/index.ts";
import { answerLinks } from "../../src/webhooks/index.ts";

const nodeDefinitions = builtinNodes;
const workflow = { id: "flow", nodes: [{ id: "ask", type: "approval" }], edges: [] };
const mapped = {
  id: "mapped",
  nodes: [{ id: "list", type: "map", data: { workflow: "flow", items: [1], open: true } }],
  edges: [],
};

const bench = async () => {
  const store = memoryStore();
  const runtime = createRuntime({ store, workflows: [workflow, mapped], nodeDefinitions, drive: false, schedules: schedules() });
  await runtime.start("flow", { workflowId: "a" });
  await runtime.advance("a");
  await runtime.schedules.create("s", { workflow: "flow", every: "1h" });
  const run = await runtime.get("a");
  const links = answerLinks(runtime, { keys: [{ id: "a", secret: new Uint8Array(32).fill(7) }] });
  const engine = new WorkflowEngine({ workflow, nodeDefinitions });
  const guest = createGuest({ workflows: [workflow], nodeDefinitions });
  const scoped = runtime.scoped({ tenant: "acme", by: "ada" });
  await scoped.start("flow", { workflowId: "a" });
  return { runtime, scoped, run, schedules: runtime.schedules, links, engine, guest, snapshot: await engine.execute({}) };
};
type Bench = Awaited<ReturnType<typeof bench>>;

const brief = { timeoutMs: 1 };
type Methods = Readonly<Record<string, (made: Bench) => readonly unknown[]>>;

/** The methods of a runtime and of a scoped one. */
const scopedMethods: Methods = {
  start: () => ["flow", { workflowId: "b", input: 1, metadata: {}, tenant: "acme", by: "ada", timeout: "1h" }],
  adopt: ({ snapshot }) => ["flow", snapshot, { workflowId: "c" }],
  get: () => ["a"],
  bulk: () => [{ action: "cancel" }, { dryRun: true, where: { definitionId: "flow", idPrefix: "a" } }],
  broadcast: () => ["go", 1, { key: "k", idempotencyKey: "i", where: { definitionId: "flow" } }],
  list: () => [{ status: ["paused"], metadata: {}, idPrefix: "a", limit: 1 }],
  count: () => [{ definitionId: "flow" }, 10],
  summaries: () => [["a"]],
  describe: () => [],
};
/** Every method, with arguments of the right form. The options of a method come last. */
const methods: { readonly [part: string]: Methods } = {
  scoped: scopedMethods,
  runtime: {
    ...scopedMethods,
    scoped: () => [{ tenant: "acme", by: "ada" }],
    advance: () => ["a"],
    sweep: () => [{ timeoutMs: 1, limit: 1 }],
    ended: () => [{ from: 0, to: 1, stepMs: 1 }],
    workers: () => [],
    definitions: () => [{ id: "flow" }],
    prune: () => [{ before: 1, limit: 1 }],
    work: () => [{ concurrency: 1 }],
  },
  run: {
    result: () => [brief],
    settled: () => [brief],
    waitFor: () => ["paused", brief],
    waits: () => [],
    explain: () => [{ messages: false }],
    events: () => [{ after: 0, limit: 1 }],
    snapshot: () => [],
    watch: () => [{ ...brief, after: 0 }],
    resume: () => [{ step: "nobody", payload: 1 }],
    signal: () => ["go", 1, { key: "k", idempotencyKey: "i", ttl: "1h" }],
    setMetadata: () => [{ a: 1 }, { idempotencyKey: "i", by: "ada" }],
    cancel: () => [{ step: "nobody", reason: "r", by: "ada" }],
    retry: () => [{ step: "nobody", by: "ada" }],
    fork: () => [{ workflowId: "f", by: "ada" }],
    planFork: () => [{ workflowId: "f" }],
    restart: () => [{ idempotencyKey: "i", by: "ada" }],
    planRestart: () => [{}],
    addItem: () => ["list", 1, { by: "ada" }],
    closeMap: () => ["list", { by: "ada" }],
    completeMap: () => ["list", { by: "ada" }],
  },
  schedules: {
    create: () => ["t", { workflow: "flow", every: "1h" }, { paused: true }],
    put: () => ["t", { workflow: "flow", every: "1h" }, { paused: true }],
    edit: () => ["s", { every: "2h" }],
    pause: () => ["s", "note"],
    resume: () => ["s"],
    trigger: () => ["s", { idempotencyKey: "k" }],
    backfill: () => ["s", { from: 0, to: 1, overlap: "queue" }],
    delete: () => ["nobody"],
    describe: () => ["s"],
    list: () => [{ limit: 1 }],
  },
  links: {
    create: () => [{ workflowId: "a", waitId: "w", by: "ada", payload: 1, expiresAt: 1 }],
    read: () => ["t"],
    answer: () => ["t", { approved: true }],
  },
  engine: {
    execute: () => [{ input: 1, workflowId: "e" }],
    executeStep: ({ snapshot }) => [snapshot, { approved: true }],
    send: ({ snapshot }) => [snapshot, { type: "cancel", reason: "r" }],
    stream: () => [{ input: 1 }],
  },
  guest: {
    perform: () => [{ type: "start", name: "0", start: { workflow: "flow", workflowId: "g" } }],
    run: () => [
      { perform: async () => [], wait: async () => null },
      { workflow: "flow", workflowId: "g" },
    ],
  },
};

const symbol = Symbol("s");
const wrongValues: readonly unknown[] = [
  ...[undefined, null, 42, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 10n, symbol, "", "x", "\ud800", "x".repeat(300), true],
  ...[[], [null], [42], [[]], {}, { a: null }, { toString: null }, Object.create(null), () => 1, new Date(Number.NaN), new Map(), /x/],
];

/** Calls a method and waits for its answer; of an iteration, only for the first item. Returns what was thrown, or null. */
async function thrownBy(part: object, name: string, given: readonly unknown[]): Promise<unknown> {
  try {
    // a call may wait for ever if it is told to
    const idle = async (): Promise<void> => {
      for (let i = 0; i < 20; i++) await new Promise(setImmediate);
    };
    const answer = (part as Record<string, (...given: readonly unknown[]) => unknown>)[name]!(...given);
    const iterator = answer as AsyncGenerator<unknown> | undefined;
    if (typeof iterator?.next === "function") {
      await Promise.race([iterator.next(), idle()]);
      void iterator.return?.(undefined);
    } else await Promise.race([answer, idle()]);
    await (answer as { stop?: () => Promise<void> } | undefined)?.stop?.();
    return null;
  } catch (error) {
    return error;
  }
}

const shown = (value: unknown): string =>
  typeof value === "symbol" ? "a symbol" : typeof value === "bigint" ? "10n" : (JSON.stringify(value)?.slice(0, 40) ?? String(value));

describe("A24: whatever a method is given, it is taken or refused with a code", () => {
  it.each(
    Object.entries(methods).flatMap(([part, all]) => Object.keys(all).map((name) => [part, name] as const)),
  )("%s.%s", async (part, name) => {
    const raw: string[] = [];
    const made = await bench();
    const right = methods[part]![name]!(made);
    const attempt = async (given: readonly unknown[], what: string): Promise<void> => {
      const error = await thrownBy(made[part as keyof Bench], name, given);
      if (error !== null && !StepfoldError.is(error)) raw.push(`${what}: ${String(error).slice(0, 150)}`);
    };
    for (const [place, argument] of right.entries()) {
      for (const wrong of wrongValues) {
        await attempt(right.with(place, wrong), `argument ${place} ${shown(wrong)}`);
        if (typeof argument !== "object" || argument === null || Array.isArray(argument)) continue;
        for (const member of Object.keys(argument))
          await attempt(right.with(place, { ...argument, [member]: wrong }), `${member} ${shown(wrong)}`);
      }
    }
    expect(raw).toEqual([]);
    void made.runtime.close({ timeoutMs: 0 });
  });
});
