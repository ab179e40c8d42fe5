import { type ChildProcess, fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { createRuntime, type Run } from "stepfold/runtime";
import { serviceUrl } from "../../scripts/servers/service-url.ts";
import type { Group } from "../group.ts";
import { type Sample, sleep, spread } from "../measure.ts";
import { PeerMissing } from "../peer.ts";
import type { WaitingMessage, WaitingSetting } from "../waiting-process.ts";
import { openSite, type WaitingParts, type WaitingSite, waitingNodes, waitingWorkflows } from "../waiting-site.ts";

/** How many executions one process waits for at the same time, and how many answers are measured. */
const waiters = 1_000;
const answers = 150;
/** The number of answers that are measured without a feed, where each answer costs one poll interval. */
const polledAnswers = 12;
const writers = 200;
// the writers' speed varies from second to second and rises at first, so there are many short slices and the first ones do not count
const sliceMs = 1_000;
const settleMs = 400;
const slicePairs = 14;
const warmPairs = 2;

/**
 * The reply of a waiting process to "tell": the steps that it has run, and when each step after a question began since the last "tell".
 */
interface Told {
  readonly steps: number;
  readonly begun: readonly (readonly [workflowId: string, atMs: number])[];
}

/** Starts bench/waiting-process.ts as a child process, and resolves when it is ready. */
async function begin(setting: WaitingSetting): Promise<ChildProcess> {
  const child = fork(fileURLToPath(new URL("../waiting-process.ts", import.meta.url)), [JSON.stringify(setting)]);
  await once(child, "message");
  return child;
}

function send(child: ChildProcess, message: WaitingMessage): void {
  child.send(message);
}

async function tell(child: ChildProcess): Promise<Told> {
  send(child, "tell");
  const [told] = (await once(child, "message")) as [Told];
  return told;
}

async function stop(child: ChildProcess): Promise<void> {
  send(child, "stop");
  await once(child, "exit");
}

async function withSite<T>(kind: WaitingSite["kind"], work: (site: WaitingSite, parts: WaitingParts) => Promise<T>): Promise<T> {
  const url = await serviceUrl(kind);
  if (url === null) throw new PeerMissing(kind);
  const site = { kind, url, name: `bench_${randomUUID().replaceAll("-", "").slice(0, 12)}` };
  const parts = await openSite(site);
  try {
    return await work(site, parts);
  } finally {
    await parts.close();
    if (kind === "postgres") {
      const client = new pg.Client(url);
      await client.connect();
      await client.query(`DROP SCHEMA ${site.name} CASCADE`);
      await client.end();
    }
  }
}

/** Makes a runtime that starts executions and waits for them, but drives none. */
function clientOf({ store, feed }: WaitingParts, hasFeed: boolean) {
  return createRuntime({
    store,
    workflows: waitingWorkflows,
    nodeDefinitions: waitingNodes(() => undefined),
    drive: false,
    ...(hasFeed && { feed: feed() }),
  });
}

/**
 * Measures the milliseconds from an answer in this process to the next step in another process, and to the moment at which this process
 * has the result.
 */
async function answered(site: WaitingSite, parts: WaitingParts, hasFeed: boolean, count: number): Promise<Sample> {
  const worker = await begin({ site, hasFeed, writers: 0 });
  const client = clientOf(parts, hasFeed);
  const [toCall, toEnd, sentAt] = [[] as number[], [] as number[], new Map<string, number>()];
  for (let i = 0; i < count; i++) {
    const run = await client.start("ask");
    await run.waitFor({ step: "ask" });
    // without a feed the answer has to come at a random moment between two polls
    await sleep(hasFeed ? 5 : Math.random() * 1_000);
    const result = run.result();
    const from = performance.now();
    sentAt.set(run.workflowId, Date.now());
    await run.resume({ payload: null });
    toCall.push(performance.now() - from);
    await result;
    toEnd.push(performance.now() - from);
  }
  const { begun } = await tell(worker);
  const toStep = begun.map(([id, atMs]) => atMs - sentAt.get(id)!);
  await stop(worker);
  await client.close();
  const counted = (figures: readonly number[]): readonly number[] => figures.slice(Math.ceil(figures.length / 4)).toSorted((a, b) => a - b);
  const p99 = (figures: readonly number[]): number => counted(figures)[Math.floor(counted(figures).length * 0.99)]!;
  return {
    ...{ call: spread(counted(toCall)).median, step: spread(counted(toStep)).median, end: spread(counted(toEnd)).median },
    ...{ p99Step: p99(toStep), p99End: p99(toEnd) },
  };
}

/** Measures the milliseconds from an answer to the end of its execution in a single process. Two processes cannot be faster than this. */
async function answeredAlone({ store }: WaitingParts): Promise<Sample> {
  const alone = createRuntime({ store, workflows: waitingWorkflows, nodeDefinitions: waitingNodes(() => undefined) });
  const [calls, ends] = [[] as number[], [] as number[]];
  for (let i = 0; i < answers; i++) {
    const run = await alone.start("ask");
    await run.waitFor({ step: "ask" });
    await sleep(5);
    const result = run.result();
    const from = performance.now();
    await run.resume({ payload: null });
    calls.push(performance.now() - from);
    await result;
    ends.push(performance.now() - from);
  }
  await alone.close();
  return { aloneCall: spread(calls).median, aloneEnd: spread(ends).median };
}

/**
 * Measures the queries per second of a process that waits for `waiters` executions. Another process would drive them, but they all stay
 * paused.
 */
async function idle(site: WaitingSite, parts: WaitingParts, hasFeed: boolean): Promise<number> {
  const worker = await begin({ site, hasFeed, writers: 0 });
  const client = clientOf(parts, hasFeed);
  const runs: Run[] = [];
  for (let i = 0; i < waiters; i += 100) runs.push(...(await Promise.all(Array.from({ length: 100 }, () => client.start("ask")))));
  await Promise.all(runs.map((run) => run.waitFor({ step: "ask" })));
  const leaving = new AbortController();
  const { signal } = leaving;
  const gone = (): void => undefined;
  for (const [index, run] of runs.entries()) {
    if (index % 2) run.result({ signal }).catch(gone);
    else (async () => void (await run.watch({ after: 1, signal }).next()))().catch(gone);
  }
  await sleep(2_000);
  const before = parts.sent();
  const from = performance.now();
  await sleep(5_000);
  const rate = ((parts.sent() - before) * 1_000) / (performance.now() - from);
  leaving.abort();
  await client.close();
  await stop(worker);
  return rate;
}

/**
 * Measures the steps per second of writers in another process, with a feed and without, in alternating slices. Answers are given all
 * the time.
 */
async function besideWriters(site: WaitingSite, parts: WaitingParts): Promise<Sample> {
  const writing = await begin({ site, hasFeed: true, writers });
  // this process drives the answered executions; it does nothing else, but the writing process may still be faster and take one of them
  const worker = await begin({ site, hasFeed: true, writers: 0 });
  const client = clientOf(parts, true);
  const rates = { with: [] as number[], without: [] as number[] };
  const ends: number[] = [];
  const sentAt = new Map<string, number>();
  let isOn = true;
  let feedIsOn = false;
  const answering = (async () => {
    for (; isOn; await sleep(100)) {
      const run = await client.start("ask");
      await run.waitFor({ step: "ask" });
      const isMeasured = feedIsOn;
      const from = performance.now();
      const result = run.result();
      if (isMeasured) sentAt.set(run.workflowId, Date.now());
      await run.resume({ payload: null });
      await result;
      if (isMeasured && feedIsOn) ends.push(performance.now() - from);
    }
  })();
  for (let pair = 0; pair < slicePairs; pair++) {
    for (const which of pair % 2 ? (["with", "without"] as const) : (["without", "with"] as const)) {
      send(writing, which === "with" ? "write with feed" : "write without");
      await sleep(settleMs);
      feedIsOn = which === "with";
      const before = await tell(writing);
      const from = performance.now();
      await sleep(sliceMs);
      const after = await tell(writing);
      rates[which].push(((after.steps - before.steps) * 1_000) / (performance.now() - from));
      feedIsOn = false;
      send(writing, "pause");
      await sleep(settleMs);
    }
  }
  isOn = false;
  await answering;
  const steps = (await tell(worker)).begun.flatMap(([id, atMs]) => (sentAt.has(id) ? [atMs - sentAt.get(id)!] : []));
  await client.close();
  await Promise.all([worker, writing].map(stop));
  const [fed, unfed] = [rates.with.slice(warmPairs), rates.without.slice(warmPairs)];
  const ratios = fed.map((rate, index) => rate / unfed[index]!);
  return {
    ...{ writesWith: spread(fed).median, writesWithout: spread(unfed).median, share: spread(ratios).median },
    ...{ step: spread(steps).median, end: spread(ends).median, answers: ends.length },
  };
}

const kinds = ["postgres", "redis"] as const;
const named = { postgres: "PostgreSQL", redis: "Redis" };

/** Measures how fast and at what cost a process waits for executions that other processes drive. */
export const waiting: Group = {
  cases: Object.fromEntries(
    kinds.flatMap((kind) => [
      [
        `${kind}-answers`,
        {
          sample: () =>
            withSite(kind, async (site, parts) => {
              const polled = await answered(site, parts, false, polledAnswers);
              const fed = await answered(site, parts, true, answers);
              const alone = await answeredAlone(parts);
              return { ...fed, ...alone, polledStep: polled.step!, polledEnd: polled.end! };
            }),
        },
      ],
      [
        `${kind}-waiters`,
        {
          sample: () =>
            withSite(kind, async (site, parts) => ({ polled: await idle(site, parts, false), fed: await idle(site, parts, true) })),
        },
      ],
      [`${kind}-writers`, { sample: () => withSite(kind, besideWriters) }],
    ]),
  ),
  rows: kinds.flatMap((kind) => [
    {
      work: `an answer to the step after it in another process, ${named[kind]}, p50`,
      figure: { of: `${kind}-answers`, key: "step" },
      unit: "ms" as const,
      reference: { name: "without a feed", figure: { of: `${kind}-answers`, key: "polledStep" } },
      target: { of: "figure" as const, atMost: 10 },
    },
    {
      work: `an answer to its execution's end, seen where it was given, ${named[kind]}, p50`,
      figure: { of: `${kind}-answers`, key: "end" },
      unit: "ms" as const,
      reference: { name: "without a feed", figure: { of: `${kind}-answers`, key: "polledEnd" } },
      target: { of: "figure" as const, atMost: 10 },
    },
    {
      work: `an answer to its execution's end, ${named[kind]}, p50`,
      figure: { of: `${kind}-answers`, key: "end" },
      unit: "ms" as const,
      reference: { name: "in one process", figure: { of: `${kind}-answers`, key: "aloneEnd" } },
    },
    {
      work: `500 watches and 500 results of ${waiters} executions, ${named[kind]}`,
      figure: { of: `${kind}-waiters`, key: "fed" },
      unit: "queries/s" as const,
      reference: { name: "without a feed", figure: { of: `${kind}-waiters`, key: "polled" } },
      target: { of: "figure" as const, atMost: 20 },
    },
    {
      work: `${writers} writers beside answers, ${named[kind]}`,
      figure: { of: `${kind}-writers`, key: "writesWith" },
      unit: "steps/s" as const,
      reference: { name: "without a feed", figure: { of: `${kind}-writers`, key: "writesWithout" } },
      target: { of: "ratio" as const, atLeast: 0.95 },
    },
    {
      work: `an answer beside them to the step after it in another process, ${named[kind]}, p50`,
      figure: { of: `${kind}-writers`, key: "step" },
      unit: "ms" as const,
      target: { of: "figure" as const, atMost: 10 },
    },
    {
      work: `an answer beside them to its execution's end, ${named[kind]}, p50`,
      figure: { of: `${kind}-writers`, key: "end" },
      unit: "ms" as const,
    },
  ]),
};
