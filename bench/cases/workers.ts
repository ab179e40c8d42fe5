import { randomUUID } from "node:crypto";
import { createRuntime } from "stepfold/runtime";
import { siteFromUrl } from "stepfold/stores/from-url";
import { serviceUrl } from "../../scripts/servers/service-url.ts";
import { startFleet } from "../fleet.ts";
import { benchQueue, dropQueue } from "../fleet-queue.ts";
import { fleetNodes, fleetWorkflows } from "../fleet-workflows.ts";
import type { Group } from "../group.ts";
import type { Sample } from "../measure.ts";
import { PeerMissing } from "../peer.ts";

const executions = 10_000;
const steps = 10;
const concurrency = 100;

/** Measures how fast a fleet of workers runs executions of ten steps that were all handed over before it starts. */
async function measured(workers: number, how: "bullmq" | "polling"): Promise<Sample> {
  const [postgres, redis] = [await serviceUrl("postgres"), await serviceUrl("redis")];
  if (postgres === null || redis === null) throw new PeerMissing(postgres === null ? "postgres" : "redis");
  const schema = `bench_${randomUUID().replaceAll("-", "").slice(0, 12)}`;
  const storeUrl = new URL(postgres);
  storeUrl.searchParams.set("schema", schema);
  const place = { redis, name: schema };
  const site = await siteFromUrl(storeUrl.href);
  const store = await site.open(schema, { migrate: true });
  const queue = how === "bullmq" ? await benchQueue(place) : null;
  const starter = createRuntime({
    store,
    workflows: fleetWorkflows,
    nodeDefinitions: fleetNodes(() => undefined),
    drive: false,
    ...(queue && { queue }),
  });
  for (let from = 0; from < executions; from += concurrency) {
    await Promise.all(Array.from({ length: concurrency }, (_, i) => starter.start("ten", { workflowId: `run-${from + i}` })));
  }
  const begin = performance.now();
  const fleet = await startFleet(workers, { store: storeUrl.href, concurrency, ...(queue && { queue: place }) });
  const marks = await fleet.marked(executions);
  const seconds = (performance.now() - begin) / 1000;
  if (new Set(marks.map(([id]) => id)).size !== executions) throw new TypeError("Some executions were marked twice");
  await fleet.stop();
  const unfinished = (await store.list({ status: ["active", "error", "paused", "parked"], limit: 1 })).items.length;
  if (unfinished > 0) throw new TypeError("Some executions have not ended");
  await starter.close();
  await queue?.close();
  if (queue) await dropQueue(place);
  await store.close();
  await site.drop(schema);
  await site.close();
  return { stepsPerSecond: (executions * steps) / seconds };
}

const fleets = ["bullmq", "polling"] as const;
const sizes = [1, 2, 4];

/** Executions that workers in processes of their own receive from a queue, or find in the store by polling. */
export const workers: Group = {
  cases: Object.fromEntries(
    fleets.flatMap((how) => sizes.map((size) => [`${how}-${size}`, { once: true as const, sample: () => measured(size, how) }])),
  ),
  rows: fleets.flatMap((how) =>
    sizes.map((size) => ({
      work: `${executions.toLocaleString("en")} executions of ${steps} steps, PostgreSQL${how === "bullmq" ? " and BullMQ" : " alone"}, ${size} worker${size === 1 ? "" : "s"}`,
      figure: { of: `${how}-${size}`, key: "stepsPerSecond" },
      unit: "steps/s" as const,
      ...(size > 1 && { reference: { name: "one worker", figure: { of: `${how}-1`, key: "stepsPerSecond" } } }),
    })),
  ),
};
