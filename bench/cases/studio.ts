import type { Group, Row, Unit } from "../group.ts";
import { pageCases } from "../studio/page-cases.ts";
import { sizeCases } from "../studio/size-cases.ts";
import { streamCases } from "../studio/stream-cases.ts";

/** A figure that may not be larger, on any machine. */
function atMost(work: string, [of, key]: readonly [string, string], unit: Unit, most: number): Row {
  return { work, figure: { of, key }, unit, target: { of: "figure", atMost: most, isStrict: true } };
}

/** A time with what it may take. The machine decides about it, so it does not make the run fail. */
function time(work: string, [of, key]: readonly [string, string], most: number): Row {
  return { work, figure: { of, key }, unit: "ms", target: { of: "figure", atMost: most } };
}

/** A time that may be so many times as long as another one of the same process. */
function ratio(work: string, of: string, [key, otherKey]: readonly [string, string], name: string, most: number): Row {
  const reference = { name, figure: { of, key: otherKey } };
  return { work, figure: { of, key }, unit: "ms", reference, target: { of: "ratio", atMost: most, isStrict: true } };
}

/** The server, its client, Studio and `stepfold dev`: what they weigh, what a page costs, and what watching costs. */
export const studio: Group = {
  cases: { ...sizeCases, ...pageCases, ...streamCases },
  rows: [
    atMost("Studio: code of the first load (list), gzip", ["code", "listKb"], "KB", 160),
    atMost("Studio: code of an execution in all, gzip", ["code", "executionKb"], "KB", 330),
    atMost("Studio: all files without fonts, gzip", ["pages", "kb"], "KB", 480),
    atMost("stepfold/client, min+gzip", ["client", "size"], "KB", 4),
    atMost("server, client and Studio in an install, unpacked", ["install", "mb"], "MB", 8),
    atMost("DOM of a list of 1,000 rows", ["list", "elements"], "elements", 1_500),
    atMost("DOM of a map of 5,000 items", ["map", "elements"], "elements", 1_500),
    atMost("DOM of a loop of 2,000 visits", ["loop", "elements"], "elements", 1_500),
    atMost("DOM of 500 nodes, fitted", ["graph", "elements"], "elements", 9_000),
    atMost("slider: requests of its steps", ["loop", "requests"], "requests", 0),
    time("slider step over 4,000 events", ["loop", "stepMs"], 700),
    ratio("the same, beside a step over 500 events", "loop", ["stepMs", "fewStepMs"], "over 500 events", 3),
    time("graph of 500 nodes shown", ["graph", "ms"], 5_000),
    time("4,000 events all in", ["loop", "allInMs"], 4_000),
    time("map of 5,000 items usable", ["map", "ms"], 12_000),
    atMost("reads of events for a commit, 100 watchers", ["watched", "readsPerCommit"], "reads/commit", 1),
    atMost("the same, told by the process that runs", ["told", "readsPerCommit"], "reads/commit", 0.05),
    atMost("500 watchers x 3 connections: lost", ["watchers", "lost"], "events", 0),
    atMost("500 watchers x 3 connections: doubled", ["watchers", "doubled"], "events", 0),
    ratio("news from another process", "news", ["newsMs", "pollMs"], "poll interval", 2),
    ratio("the same, told by the process that runs", "told news", ["newsMs", "pollMs"], "poll interval", 2),
    ratio("stepfold dev to its address", "dev", ["devMs", "versionMs"], "stepfold --version", 6),
  ],
  notes(samples) {
    const parts = Object.entries(samples.get("install")?.[0] ?? {})
      .filter(([key]) => key.startsWith("part "))
      .map(([key, mb]) => `${key.slice(5)} ${mb.toFixed(2)} MB`);
    return parts.length > 0 ? [`install: ${parts.join(", ")}`] : [];
  },
};
