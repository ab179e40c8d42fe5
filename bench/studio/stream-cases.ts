import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startProxy } from "../../e2e/kill9/proxy.ts";
import { lostAndDoubled, StreamWatcher } from "../../e2e/studio/streams/stream-watcher.ts";
import { newPerson, openSite, type SiteOptions, type StreamedSite } from "../../e2e/studio/streams/streamed-site.ts";
import { databaseFolder } from "../database.ts";
import { type Case, type Sample, sleep, spread } from "../measure.ts";

/** How often the server asks the store for news, in milliseconds. */
const pollMs = 250;
const watchers = 500;
const people = 10;
const loopId = "loop";

function streamCase(
  options: Pick<SiteOptions, "isTold" | "people">,
  tickMs: number,
  measure: (site: StreamedSite) => Promise<Sample>,
): Case {
  return {
    once: true,
    longestMs: 120_000,
    async sample() {
      const folder = mkdtempSync(join(databaseFolder(), "streams-"));
      const site = (await openSite({ kind: "sqlite", folder, ...options }))!;
      try {
        await Promise.all([site.serving.start(), site.driving.start()]);
        await site.runtime.start("ticking", { workflowId: loopId, input: { ms: tickMs, most: 100_000 } });
        return await measure(site);
      } finally {
        await site.close();
        rmSync(folder, { recursive: true, force: true });
      }
    },
  };
}

/** Ends the loop. Returns the last version of its history, which is also the number of its commits after the first one. */
async function finish({ driving, runtime }: StreamedSite): Promise<number> {
  driving.order({ isFinishing: true });
  const run = await runtime.get(loopId);
  await run.result();
  return (await run.snapshot()).version;
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await sleep(10);
}

/** Counts the reads of events of the server for each commit that a hundred watchers see. */
async function readsPerCommit(site: StreamedSite): Promise<Sample> {
  const all = Array.from({ length: 100 }, () => new StreamWatcher(site.client(), loopId));
  await until(() => all.every(({ last }) => last >= 0));
  const begin = { reads: site.serving.reads, version: all[0]!.last };
  await until(() => all[0]!.last >= begin.version + 200);
  const last = await finish(site);
  await until(() => all.every((watcher) => watcher.last === last));
  const sample = { readsPerCommit: (site.serving.reads - begin.reads) / (last - begin.version) };
  for (const watcher of all) watcher.stop();
  return sample;
}

/** Cuts 500 watchers off once, and kills the server once. */
async function lost(site: StreamedSite): Promise<Sample> {
  const proxy = await startProxy(site.serving.url);
  const url = proxy.url.replace(/\/$/, "");
  const all = Array.from({ length: watchers }, (_, index) => new StreamWatcher(site.client(site.people[index % people], url), loopId));
  const connected = (connections: number): Promise<void> => {
    const to = Math.max(...all.map(({ last }) => last)) + 15;
    return until(() => all.every((watcher) => watcher.connections >= connections && watcher.last >= to));
  };
  await connected(1);
  proxy.set("reset");
  proxy.set("through");
  await connected(2);
  await site.serving.kill();
  await site.serving.start();
  await connected(3);
  const last = await finish(site);
  await until(() => all.every((watcher) => watcher.last >= last));
  const sum = { lost: 0, doubled: 0 };
  for (const watcher of all) {
    const own = lostAndDoubled(watcher.versions, last);
    sum.lost += own.lost;
    sum.doubled += own.doubled;
    watcher.stop();
  }
  await proxy.close();
  return sum;
}

/** Measures how long after its commit an event is seen. */
async function news(site: StreamedSite): Promise<Sample> {
  const watcher = new StreamWatcher(site.client(), loopId);
  await until(() => watcher.last >= 20);
  const begin = watcher.latenessMs.length;
  await until(() => watcher.latenessMs.length >= begin + 150);
  watcher.stop();
  return { newsMs: spread(watcher.latenessMs.slice(begin)).median, pollMs };
}

/** What is measured of streams. The time between two commits has nothing to do with that between two polls. */
export const streamCases: Readonly<Record<"watched" | "told" | "watchers" | "news" | "told news", Case>> = {
  watched: streamCase({}, 40, readsPerCommit),
  told: streamCase({ isTold: true }, 40, readsPerCommit),
  watchers: streamCase({ people: Array.from({ length: people }, (_, index) => newPerson(`person-${index}`)) }, 100, lost),
  news: streamCase({}, 67, news),
  "told news": streamCase({ isTold: true }, 67, news),
};
