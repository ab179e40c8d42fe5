import { parseArgs } from "node:util";
import pg from "pg";
import { createRuntime } from "stepfold/runtime";
import { siteFromUrl } from "stepfold/stores/from-url";
import { serviceUrl } from "../scripts/servers/service-url.ts";
import { startFleet } from "./fleet.ts";
import { fleetNodes, fleetWorkflows } from "./fleet-workflows.ts";
import { sleep } from "./measure.ts";

// Measures how late timers fire, and how long new executions take, when many timers are due at one moment among many executions that
// wait:
// node bench/herd.ts [--timers 10000] [--parked 100000] [--kilobytes 10] [--workers 4] [--new 20]

const { values } = parseArgs({
  options: {
    timers: { type: "string", default: "10000" },
    parked: { type: "string", default: "100000" },
    kilobytes: { type: "string", default: "10" },
    workers: { type: "string", default: "4" },
    new: { type: "string", default: "20" },
    leadSeconds: { type: "string", default: "120" },
  },
});
const [timers, parked, workers, newPerSecond] = [values.timers, values.parked, values.workers, values.new].map(Number) as [
  number,
  number,
  number,
  number,
];
const yearMs = 365 * 24 * 60 * 60_000;

const url = (await serviceUrl("postgres")) ?? "";
const schema = `bench_${process.pid}`;
const storeUrl = new URL(url);
storeUrl.searchParams.set("schema", schema);
const site = await siteFromUrl(storeUrl.href);
const store = await site.open(schema, { migrate: true });
const client = new pg.Client(url);
await client.connect();
const runtime = createRuntime({ store, workflows: fleetWorkflows, nodeDefinitions: fleetNodes(() => undefined) });

const dueAt = Date.now() + Number(values.leadSeconds) * 1000;
/** Random text, which the database cannot compress. */
const ballast = Array.from({ length: Number(values.kilobytes) * 1024 }, () => Math.random().toString(36)[2]).join("");

/** Starts an execution that waits until `until`, and copies its rows in the database until there are `count` executions. */
async function copies(id: string, until: number, count: number): Promise<void> {
  const run = await runtime.start("herd", { workflowId: `${id}-0`, input: { until, ballast } });
  while ((await run.snapshot()).status !== "paused") await sleep(20);
  await client.query(`
    INSERT INTO "${schema}".executions SELECT (jsonb_populate_record(e, jsonb_build_object('id', '${id}-' || n,
      'seq', nextval(pg_get_serial_sequence('"${schema}".executions', 'seq'))))).* FROM "${schema}".executions e, generate_series(1, ${count - 1}) n WHERE e.id = '${id}-0'`);
  await client.query(`
    INSERT INTO "${schema}".events SELECT c.seq, v.version, v.commit_id, replace(v.event::text, '"${id}-0"', to_json(c.id)::text)::json
    FROM "${schema}".executions t JOIN "${schema}".events v ON v.execution = t.seq, "${schema}".executions c
    WHERE t.id = '${id}-0' AND c.id LIKE '${id}-%' AND c.id <> t.id`);
}

await copies("parked", Date.now() + yearMs, parked);
await copies("timer", dueAt, timers);
await client.query(`ANALYZE "${schema}".executions`);
await client.query(`ANALYZE "${schema}".events`);
await runtime.close();
if (Date.now() > dueAt - 3_000) throw new TypeError("Making the executions took too long: give --leadSeconds more");
const starter = createRuntime({ store, workflows: fleetWorkflows, nodeDefinitions: fleetNodes(() => undefined), drive: false });
const fleet = await startFleet(workers, { store: storeUrl.href, concurrency: 100 });
await sleep(dueAt - Date.now());

const startedAt = new Map<string, number>();
let started = 0;
let herdIsOver = false;
const starting = (async () => {
  while (!herdIsOver) {
    const id = `new-${started++}`;
    startedAt.set(id, Date.now());
    await starter.start("new", { workflowId: id });
    await sleep(1000 / newPerSecond);
  }
})();
let marks = await fleet.marked(timers);
while (marks.filter(([id]) => id.startsWith("timer")).length < timers) marks = await fleet.marked(marks.length + 1);
herdIsOver = true;
await starting;
marks = await fleet.marked(timers + started);
const lags = marks.filter(([id]) => id.startsWith("timer")).map(([, at]) => at - dueAt);
const fresh = marks.flatMap(([id, at]) => (startedAt.has(id) ? [at - startedAt.get(id)!] : []));
const told = (figures: readonly number[]): string => {
  const sorted = figures.toSorted((a, b) => a - b);
  const share = (part: number): string => `${(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]! / 1000).toFixed(2)} s`;
  return `p50 ${share(0.5)}, p99 ${share(0.99)}, longest ${share(1)}`;
};
console.log(`${timers} timers due at once among ${parked} that wait, ${values.kilobytes} KB each, ${workers} workers`);
console.log(`wake-up lag: ${told(lags)}`);
console.log(`new executions of 3 steps, ${started} started meanwhile: ${told(fresh)}`);
await fleet.stop();
await starter.close();
await client.end();
await store.close();
await site.drop(schema);
await site.close();
