import { fork } from "node:child_process";
import { parseArgs } from "node:util";
import type { SnapshotStore, WorkflowDefinition } from "stepfold";
import { builtinNodes } from "stepfold/nodes";
import { createRuntime, type Runtime } from "stepfold/runtime";
import { siteFromUrl, storeFromUrl } from "stepfold/stores/from-url";
import { withDatabase } from "./database.ts";
import { sleep } from "./measure.ts";
import { serverUrl } from "./peer.ts";

// Measures many writers that change one execution at the same moment:
// node bench/crowd.ts answers [--count 1000] [--processes 1] [--store postgres]   processes answer all waits of one execution
// node bench/crowd.ts fan-in [--count 1000] [--runtimes 3] [--store postgres]     detached children end and report to their parent

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: "string", default: "1000" },
    processes: { type: "string", default: "1" },
    runtimes: { type: "string", default: "3" },
    store: { type: "string", default: "sqlite" },
    // these options are for processes that this script starts
    url: { type: "string" },
    from: { type: "string" },
    to: { type: "string" },
  },
});
const count = Number(values.count);
const workflowId = "crowd";
const items = Array.from({ length: count }, (_, index) => index);

const ask: WorkflowDefinition = { id: "ask", nodes: [{ id: "q", type: "approval", data: { message: "Yes?" } }], edges: [] };
const answers: WorkflowDefinition = {
  id: "answers",
  nodes: [{ id: "m", type: "map", data: { workflow: "ask", items: "{{ input }}", concurrency: count } }],
  edges: [],
  workflows: { ask },
};
const child: WorkflowDefinition = { id: "child", nodes: [{ id: "work", type: "work" }], edges: [] };
const call: WorkflowDefinition = {
  id: "call",
  nodes: [{ id: "c", type: "workflow", data: { workflow: "child", detached: true } }],
  edges: [],
};
const fanIn: WorkflowDefinition = {
  ...answers,
  id: "fan-in",
  nodes: [{ ...answers.nodes[0]!, data: { workflow: "call", items: "{{ input }}", concurrency: count } }],
  workflows: { call },
};
const work = {
  executor: async () => {
    await sleep(20);
    return { data: null };
  },
};

function runtimeOn(store: SnapshotStore, drive: boolean): Runtime {
  return createRuntime({ store, drive, workflows: [answers, fanIn, child], nodeDefinitions: { ...builtinNodes, work } });
}

if (values.url) await answerPart(values.url, Number(values.from), Number(values.to));
else if (positionals[0] === "answers") await withStore(manyAnswers);
else if (positionals[0] === "fan-in") await withStore(manyChildren);
else throw new TypeError("Say which: answers or fan-in");

/**
 * Answers the waits from `from` to `to`, all at once, when the parent process gives the signal; then reports how many answers were
 * applied.
 */
async function answerPart(url: string, from: number, to: number): Promise<void> {
  const store = await storeFromUrl(url);
  const runtime = runtimeOn(store, false);
  const run = await runtime.get(workflowId);
  process.send!("ready");
  await new Promise((resolve) => process.once("message", resolve));
  const outcomes = await Promise.allSettled(
    items.slice(from, to).map((item) => run.resume({ step: `m[${item}]/q`, payload: { approved: true } })),
  );
  process.send!(
    outcomes.map((one) =>
      one.status === "rejected" ? String((one.reason as { code?: string }).code) : one.value.applied ? "applied" : "repeated",
    ),
  );
  await runtime.close();
  await store.close();
  process.disconnect();
}

async function manyAnswers(url: string): Promise<void> {
  const store = await storeFromUrl(url);
  const runtime = runtimeOn(store, true);
  const run = await runtime.start("answers", { workflowId, input: items });
  while ((await run.snapshot()).status !== "paused") await sleep(50);
  const processes = Number(values.processes);
  const share = Math.ceil(count / processes);
  const others = Array.from({ length: processes }, (_, index) =>
    fork(import.meta.filename, [
      "--url",
      url,
      "--count",
      values.count,
      "--from",
      String(index * share),
      "--to",
      String((index + 1) * share),
    ]),
  );
  const hear = (): Promise<unknown[]> => Promise.all(others.map((other) => new Promise((resolve) => other.once("message", resolve))));
  await hear();
  const before = (await run.snapshot()).version;
  const from = performance.now();
  for (const other of others) other.send("go");
  const outcomes = (await hear()).flat();
  const seconds = (performance.now() - from) / 1000;
  await run.result();
  const history = await store.events(workflowId, before, 1_000_000);
  const commits = new Set(history.map(({ commitId }) => commitId)).size;
  const applied = outcomes.filter((one) => one === "applied").length;
  const refused = outcomes.filter((one) => one !== "applied");
  console.log(
    `${count} answers from ${processes} processes on ${values.store}: ${applied} applied, ${commits} commits, ${seconds.toFixed(1)} s`,
  );
  if (refused.length > 0) console.log(`not applied: ${[...new Set(refused)].join(", ")}`);
  process.exitCode = applied === count ? 0 : 1;
  await runtime.close();
  await store.close();
}

async function manyChildren(url: string): Promise<void> {
  const stores = await Promise.all(Array.from({ length: Number(values.runtimes) }, () => storeFromUrl(url)));
  const runtimes = stores.map((store) => runtimeOn(store, true));
  const from = performance.now();
  const run = await runtimes[0]!.start("fan-in", { workflowId, input: items });
  await run.result();
  const seconds = (performance.now() - from) / 1000;
  const history = await stores[0]!.events(workflowId, -1, 1_000_000);
  const commits = new Set(history.map(({ commitId }) => commitId)).size;
  console.log(
    `${count} detached children, ${runtimes.length} runtimes on ${values.store}: ${commits} commits of the parent, ${seconds.toFixed(1)} s`,
  );
  for (const runtime of runtimes) await runtime.close();
  for (const store of stores) await store.close();
}

/** Calls `measure` with the URL of an empty store, and removes that store afterwards. */
async function withStore(measure: (url: string) => Promise<void>): Promise<void> {
  if (values.store === "sqlite") return withDatabase((path) => measure(`sqlite:${path}`));
  const schema = `bench_${process.pid}`;
  const url = new URL(await serverUrl(values.store as "postgres"));
  url.searchParams.set("schema", schema);
  const site = await siteFromUrl(url.href);
  const store = await site.open(schema, { migrate: true });
  await store.now();
  await store.close();
  await measure(url.href);
  await site.drop(schema);
  await site.close();
}
