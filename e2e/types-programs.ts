// Programs that the compilers of users are given: see types.test.ts.

/** What every program imports. */
export const imports = `import { defineDurable, defineWorkflow, type SnapshotStore } from "stepfold";
import { createRuntime, type Run } from "stepfold/runtime";
import { z } from "zod";
export type { Run, SnapshotStore };
export { createRuntime, defineDurable, defineWorkflow, z };`;

/** Right uses, and what the mistakes are about. */
export const declarations = `
declare const store: SnapshotStore;
const subscription = defineDurable({
  id: "subscription",
  input: z.object({ customer: z.string() }),
  signals: { cancel: z.object({ reason: z.string() }) },
  async run({ input, step }, _globals: { readonly bank: string }) {
    const maybe: string | undefined = step.random() > 0.5 ? "1 day" : undefined;
    await step.signal("cancel", { timeout: maybe });
    await step.run("charge", { timeout: maybe, retry: { maxAttempts: 3, interval: "1h" } }, () => input.customer);
    await step.call("order", order, { items: [] }, { timeout: maybe });
    return { ended: (await step.signal("cancel")).reason };
  },
});
const order = defineWorkflow(
  { id: "order", nodes: [{ id: "approve", type: "approval" }], edges: [] },
  { input: z.object({ items: z.array(z.number()) }), waits: { approve: z.object({ approved: z.boolean() }) } },
);
const runtime = createRuntime({ store, workflows: [subscription, order], globals: { bank: "b" } });
const run = await runtime.start(subscription, { input: { customer: "ada" }, workflowId: undefined });
const untyped: Run = run;
await untyped.signal("cancel", { reason: "moved" });
const ordered = await runtime.start(order, { input: { items: [5] } });
await ordered.resume(order.waits.approve, { approved: true });
const waits = { ok: z.object({ yes: z.boolean() }) };
`;

/** A mistake in one line, and what its message says. */
interface Mistake {
  readonly code: string;
  readonly message: RegExp;
}

export const mistakes: readonly Mistake[] = [
  { code: `await runtime.start(subscription, { input: { customer: 5 } });`, message: /Type 'number' is not assignable to type 'string'/ },
  { code: `await runtime.start(subscription, { input: {} });`, message: /Property 'customer' is missing in type '{}'/ },
  {
    code: `await runtime.start(subscription, { input: { customer: "a", plan: 1 } });`,
    message: /'plan' does not exist in type '{ customer: string; }'/,
  },
  { code: `await run.signal(subscription.signals.cancle, {});`, message: /Property 'cancle' does not exist .* Did you mean 'cancel'\?/ },
  { code: `await ordered.resume(order.waits.aprove, {});`, message: /Property 'aprove' does not exist .* Did you mean 'approve'\?/ },
  { code: `await run.signal(subscription.signals.cancel, { why: "x" });`, message: /'why' does not exist in type '{ reason: string; }'/ },
  { code: `await ordered.resume(order.waits.approve, { approved: "yes" });`, message: /Type 'string' is not assignable to type 'boolean'/ },
  { code: `await run.resume(order.waits.approve, { approved: true });`, message: /'WaitToken<{ approved: boolean; }, "approve">'/ },
  { code: `(await run.result()).end;`, message: /Property 'end' does not exist on type '{ ended: string; }'/ },
  {
    code: `defineDurable({ id: "d", async run({ step }) { const row = step.run("a", () => ({ n: 1 })); return row.n; } });`,
    message: /Property 'n' does not exist on type 'Promise<{ n: number; }>'/,
  },
  {
    code: `defineDurable({ id: "d", async run({ step }) { const at = await step.run("at", () => new Date()); return at.getTime(); } });`,
    message: /Property 'getTime' does not exist on type 'string'/,
  },
  {
    code: `defineDurable({ id: "d", waits, async run({ step }) { await step.waitFor("okay"); } });`,
    message: /'"okay"' is not assignable to parameter of type '"ok"'/,
  },
  {
    code: `defineDurable({ id: "d", waits, async run({ step }) { return (await step.waitFor("ok", { timeout: "1d" })).yes; } });`,
    message: /(Object|'.*') is possibly 'null'/,
  },
  {
    code: `defineDurable({ id: "d", input: z.object({ note: z.string() }), run: async ({ input }) => input.notes });`,
    message: /Property 'notes' does not exist on type '{ note: string; }'. Did you mean 'note'\?/,
  },
  {
    code: `defineDurable({ id: "d", async run({ step }) { await step.call("o", order, { items: ["tea"] }); } });`,
    message: /Type 'string' is not assignable to type 'number'/,
  },
  {
    code: `defineDurable({ id: "d", output: z.object({ n: z.number() }), run: async () => ({ n: "5" }) });`,
    message: /Type 'string' is not assignable to type 'number'/,
  },
  {
    code: `await runtime.start("order", { imput: 5 });`,
    message: /'imput' does not exist in type 'StartRunOptions'. Did you mean to write 'input'\?/,
  },
];

/** Durable workflows with steps of each kind, and a runtime that starts them. */
export function manyWorkflows(count: number, steps: number): string {
  const workflows = Array.from({ length: count }, (_, i) => workflow(i, steps));
  const names = workflows.map((_, i) => `w${i}`);
  const uses = names.map(
    (name, i) => `const o${i}: number = (await (await runtime.start(${name}, { input: { n${i}: 1 } })).result()).sum;`,
  );
  return [
    `declare const store: SnapshotStore;`,
    ...workflows,
    `const runtime = createRuntime({ store, workflows: [${names}] });`,
    ...uses,
    `export const outputs = [${names.map((_, i) => `o${i}`)}];`,
  ].join("\n");
}

function workflow(i: number, steps: number): string {
  const kinds = [
    (k: number) =>
      `const r${k} = await step.run("r${k}", () => ({ v${k}: ${k}, at: new Date(), tags: ["a"] })); sum += r${k}.v${k} + r${k}.at.length;`,
    (k: number) =>
      `const r${k} = await step.run("r${k}", { retry: { maxAttempts: 3, interval: "1s" } }, async () => [input.n${i}, ${k}]); sum += r${k}.length;`,
    (k: number) => `const r${k} = await step.waitFor("w", { timeout: "1d" }); sum += r${k} ? r${k}.w${i} : 0;`,
    (k: number) => `const r${k} = await step.signal("s"); sum += r${k}.s${i};`,
    (k: number) => `await step.sleep("r${k}", "1d");`,
  ];
  const lines = Array.from({ length: steps }, (_, k) => `    ${kinds[k % kinds.length]!(k)}`);
  return [
    `const w${i} = defineDurable({`,
    `  id: "w${i}",`,
    `  input: z.object({ n${i}: z.number() }),`,
    `  waits: { w: z.object({ w${i}: z.number() }) },`,
    `  signals: { s: z.object({ s${i}: z.number() }) },`,
    `  async run({ input, step }) {`,
    `    let sum = 0;`,
    ...lines,
    `    return { sum };`,
    `  },`,
    `});`,
  ].join("\n");
}
