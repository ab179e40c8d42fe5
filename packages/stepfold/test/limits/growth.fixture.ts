import { Session } from "node:inspector/promises";
import { compile } from "../../src/core/definition/compile/compile.ts";
import { errorInfo } from "../../src/core/errors/error-info.ts";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import { readSnapshot } from "../../src/core/reading/read-snapshot.ts";
import type { ActivePath } from "../../src/core/snapshot/snapshot.ts";
import type { Json } from "../../src/core/values/json.ts";
import { scrubber } from "../../src/engine/secrets/scrubber.ts";
import { executionScope } from "../../src/expressions/compile/scope.ts";
import { compileExpression } from "../../src/expressions/compile-expression.ts";
import { compileTemplate } from "../../src/expressions/compile-template.ts";
import { expressionLimits } from "../../src/expressions/evaluation/expression-limits.ts";
import { expressionLanguage } from "../../src/expressions/expression-language.ts";
import { loadFunctions } from "../../src/expressions/load-functions.ts";

// growth.test.ts runs this file in a process of its own, because the counters are those of the whole process. The file prints for every
// hostile input how many times blocks of our sources run for the input and for an input of twice the size.

const sources = "/packages/stepfold/src/";
const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });

/** Counts how many times blocks of our sources run during `work`. `limit` is the code of the error if a limit ends the work, else null. */
async function countedWork(work: () => unknown): Promise<{ readonly count: number; readonly limit: string | null }> {
  await session.post("Profiler.takePreciseCoverage");
  let limit: string | null = null;
  try {
    work();
  } catch (error) {
    if (!StepfoldError.is(error)) throw error;
    limit = error.code;
  }
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const own = result.filter(({ url }) => url.includes(sources));
  const count = own.flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges)).reduce((sum, range) => sum + range.count, 0);
  return { count, limit };
}

const list = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));
const nested = (n: number): unknown => list(n, String).reduce<unknown>((inner, name) => ({ [name]: inner, list: [inner === 0, name] }), 0);
const noop = { type: "noop", compensate: { type: "noop" } };
const flow = compile(
  {
    id: "w",
    nodes: [
      { id: "s", type: "noop" },
      { id: "a", ...noop },
      { id: "j", ...noop, join: "all" },
      { id: "m", type: "map", data: { workflow: "inner", items: [] } },
    ],
    edges: [
      { source: "s", target: "a" },
      { source: "a", target: "j" },
      { source: "s", target: "j" },
      { source: "s", target: "m" },
    ],
    workflows: { inner: { id: "inner", nodes: [{ id: "a", ...noop }], edges: [] } },
  },
  expressionLanguage,
);
const head = {
  schema: 1,
  workflowId: "w",
  definition: { id: "w", hash: flow.hash },
  version: 9,
  metadata: {},
  steps: 0,
  sizeBytes: 0,
  context: {},
};
const path = (i: number, more: Partial<ActivePath> = {}): object => ({
  id: `0.${i + 1}`,
  nodeId: "a",
  status: "ready",
  turn: 1,
  visit: 1,
  attempts: 0,
  since: 0,
  stepPath: ["s"],
  ...more,
});
const result = (i: number): object => ({ output: { i }, timestamp: i, attempt: 1, pathId: "0", version: i % 9 });
const undoes = { pathId: "0", version: 1 };

/** Snapshots with `n` items of one kind, by the kind. */
const snapshots: Readonly<Record<string, (n: number) => object>> = {
  "open paths": (n) => ({ ...head, status: "active", currentNodeId: "a", activePaths: list(n, (i) => path(i)) }),
  "paths that wait at a join": (n) => ({
    ...head,
    status: "active",
    currentNodeId: "a",
    activePaths: [path(0), ...list(n, (i) => path(i + 1, { nodeId: "j", status: "joining", via: "a>j" }))],
  }),
  "waits of one path": (n) => ({
    ...head,
    status: "paused",
    currentNodeId: "a",
    activePaths: [
      path(0, { status: "suspended", waits: list(n, (i) => ({ id: `0.1@1${i === 0 ? "" : `.${i}`}`, kind: "external" as const })) }),
    ],
  }),
  "results of one node": (n) => ({
    ...head,
    status: "active",
    currentNodeId: "a",
    activePaths: [path(0)],
    context: { a: list(n, result) },
  }),
  "what was undone": (n) => ({
    ...head,
    status: "failed",
    currentNodeId: "a",
    activePaths: [],
    compensations: list(n, (i) => ({ nodeId: "a", undoes, output: null, timestamp: i, attempt: 1, version: 2, error: "no" })),
  }),
  "steps that were begun": (n) => ({
    ...head,
    status: "active",
    currentNodeId: "a",
    activePaths: [path(0)],
    begun: list(n, (i) => ({ pathId: `0.${i}`, nodeId: "a" })),
  }),
  "kept signals": (n) => ({
    ...head,
    status: "active",
    currentNodeId: "a",
    activePaths: [path(0)],
    inbox: list(n, (i) => ({ name: `s${i}`, expiresAt: 5 })),
  }),
  "items of a map": (n) => ({
    ...head,
    status: "active",
    currentNodeId: "m",
    activePaths: [
      {
        ...path(0, { nodeId: "m", status: "suspended", turn: 2 }),
        children: {
          key: "0.1#1",
          workflow: "inner",
          map: { total: n, next: n, done: 0, failed: 0, cancelled: 0, concurrency: n, remaining: "cancel", tolerated: 0 },
        },
      },
    ],
    mapItems: { "0.1#1": list(n, (i) => i) },
    childStates: Object.fromEntries(
      list(n, (i) => [
        `0.1#1/${i}`,
        { workflow: "inner", status: "active", currentNodeId: "a", version: 1, context: {}, activePaths: [path(0, { stepPath: [] })] },
      ]),
    ),
  }),
  "metadata of any kind": (n) => ({
    ...head,
    status: "active",
    currentNodeId: "a",
    activePaths: [path(0)],
    metadata: { list: list(n, (i) => ({ i })) },
  }),
};

const reads = Object.entries(snapshots).map(([what, make]): [string, number, (n: number) => () => unknown] => [
  `reading: ${what}`,
  400,
  (n) => {
    const snapshot = JSON.parse(JSON.stringify(make(n))) as unknown;
    return () => readSnapshot(snapshot, flow);
  },
]);

const input = (n: number): object => ({
  list: list(n, (i) => (i * 7919) % n),
  texts: list(n, (i) => `text ${(i * 7919) % n}`),
  long: "ab".repeat(n),
  nested: nested(Math.min(n, 60)),
  pairs: list(n, (i) => [`key${i}`, i]),
});
const expressions = [
  "input.list.map(v => input.list.map(w => v * w)).length",
  "input.list.sort((a, b) => a - b)",
  "input.list.sort((a, b) => b % 7 - a % 7)",
  "input.texts.sort()",
  "input.texts.reduce((all, text) => all + text, '')",
  "input.texts.map(text => input.texts.indexOf(text)).length",
  "input.texts.map(text => input.long.includes(text)).length",
  "input.list.flatMap(v => [v, [v]]).flat().length",
  "JSON.stringify(input, null, 10).length",
  "JSON.parse(JSON.stringify(input)).list.length",
  "Object.entries(Object.fromEntries(input.pairs)).length",
  "input.list.map(v => nodes.n.all.length).length",
  "input.list.map(v => nodes.n.last.data + v).length",
  "input.long.split('a').join('bb').replaceAll('b', 'cc').length",
  "input.list.map(v => (v / 7).toString(3)).join().length",
  "input.list.map(v => date.iso(v)).length",
  "hash.md5(input.long) + hash.sha1(input.long) + hash.sha512(input.long)",
  "input.list.map(v => hash.sha256(input.long)).length",
  "base64.decode(base64.encode(input.long)).length",
  "input.texts.map(text => uuid()).length",
  "/(a+|b+)+c/.test(input.long)",
  "/(?=(a|b)*c)(a?){9}(ab)*$/.test(input.long)",
  "input.long.matchAll(/a.*c|b/g).length",
  "input.long.replace(/(a)(b)/g, '$2$1$&').split(/b/).length",
  "input.texts.map(text => text.match(/(\\d)/)).length",
  "input.texts.unique().chunk(3).length",
  "input.list.pluck('a', 'b').compact().length",
  "input.list.sum() + input.list.average() + input.list.max()",
  "input.long.toTitleCase().removeTags().length",
  "'<'.concat(input.long).replaceAll('a', '<').removeTags().length",
  "input.list.map(v => v.toDateTime().plus({ days: v }).toFormat('EEEE d MMMM')).length",
  "Object.fromEntries(input.pairs).toJsonString().length",
  "Object.entries(input.pairs).map(([key, [name, value]]) => name in input ? key : value).length",
].map((source): [string, number, (n: number) => () => unknown] => [
  `expression: ${source}`,
  // 900 items are within the limit for sorting, and above the limit for repeated searching or hashing
  /sort|sha256|matchAll/.test(source) ? 900 : 100,
  (n) => {
    const expression = compileExpression(source, undefined, expressionLimits(10_000));
    const context = { n: list(n, (i) => ({ output: i, timestamp: 0, attempt: 1, pathId: "0", version: i })) };
    const scope = executionScope({ context, since: n / 2, metadata: {}, at: 0, seed: () => "s", input: input(n) as Json } as never);
    return () => expression.evaluate(scope);
  },
]);

const template = (what: string, n: number, make: (n: number) => Json): [string, number, (n: number) => () => unknown] => [
  `template: ${what}`,
  n,
  (count) => {
    const value = make(count);
    return () => compileTemplate(value, "").template?.evaluate({ input: { list: list(50, (i) => i) } });
  },
];
const templates = [
  template("expressions in one text", 200, (n) => "a {{ input.list.length }} ".repeat(n)),
  template("mistakes in one text", 200, (n) => "{{;}}".repeat(n)),
  template("braces that never end", 200, (n) => "{{ ".repeat(n)),
  template("expressions in a list", 200, (n) => list(n, () => "{{ input.list.map(v => v * 2) }}")),
  template("members", 200, (n) => Object.fromEntries(list(n, (i) => [`m${i}`, `{{ input.list[${i % 50}] }}`]))),
  template("brackets in brackets", 12, (n) => `{{ ${"(".repeat(n)}1${")".repeat(n)} }}`),
  template("comments", 200, (n) => `{{ ${"/* a */ ".repeat(n)} 1 // ${"b ".repeat(n)} }}`),
  template("comments that never end", 200, (n) => "{{ /* ".repeat(n)),
  template("regular expressions that never end", 200, (n) => "{{ /[ ".repeat(n)),
  template("parameters taken apart", 9, (n) => `{{ [].map((${"[".repeat(n)}a${"]".repeat(n)}) => a) }}`),
  template("brackets that might be parameters", 12, (n) => `{{ [1].map(${"([a], ".repeat(n)}) }}`),
  template("a regular expression that is long", 200, (n) => `{{ /${"(a|b)+".repeat(n)}/.test('') }}`),
  template("operators", 100, (n) => `{{ 1${" + 1".repeat(n)} }}`),
];

const secrets = scrubber(list(50, (i) => `secret number ${i} with a tail`));
const redaction = (what: string, text: (n: number) => string): [string, number, (n: number) => () => unknown] => [
  `redaction: ${what}`,
  2_000,
  (n) => {
    const given = text(n);
    return () => errorInfo(new Error(given), "n", secrets);
  },
];
const redactions = [
  redaction("likely places", (n) => "token:".repeat(n)),
  redaction("beginnings of secrets", (n) => "secret number 7 ".repeat(n)),
  redaction("whole secrets", (n) => "secret number 7 with a tail".repeat(n)),
  redaction("half characters", (n) => "\ud800".repeat(n)),
];

const names = (n: number): string[] => list(n, (i) => `some-node-with-a-name-${i}`);
const texts: [string, number, (n: number) => () => unknown][] = [
  [
    "error text: known types",
    500,
    (n) => () => errorInfo(new StepfoldError("NODE_TYPE_UNKNOWN", { nodeId: "n", type: "x", known: names(n) })),
  ],
  [
    "error text: issues",
    500,
    (n) => {
      const issues = list(n, (i) => ({ pointer: `/a/${i}`, message: "must be text" }));
      return () => errorInfo(new StepfoldError("DATA_INVALID", { nodeId: "n", issues }));
    },
  ],
  ["error text: an object that was thrown", 500, (n) => () => errorInfo({ reasons: names(n) })],
];

await loadFunctions();
const told = [];
for (const [what, n, prepare] of [...reads, ...expressions, ...templates, ...redactions, ...texts]) {
  const [once, twice] = [prepare(n), prepare(2 * n)];
  // the first call compiles functions, and functions are counted only after they are compiled
  await countedWork(prepare(n));
  told.push({ what, once: await countedWork(once), twice: await countedWork(twice) });
}
process.stdout.write(JSON.stringify(told));
