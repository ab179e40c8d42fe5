import { DatabaseSync } from "node:sqlite";
import { parseArgs } from "node:util";
import type { SnapshotStore } from "stepfold";
import { siteFromUrl, storeFromUrl } from "stepfold/stores/from-url";
import { startCommit } from "stepfold/testing";
import { withDatabase } from "./database.ts";

// Measures how long a claim of a due execution takes among many that are not due:
// node bench/parked.ts [--executions 1000000] [--store postgres://...]
// Two thirds of the others are paused (half of those with a timer in a year), one third has ended.

const { values } = parseArgs({
  options: { executions: { type: "string", default: "1000000" }, store: { type: "string" }, claims: { type: "string", default: "1000" } },
});
const others = Number(values.executions);
const claims = Number(values.claims);
const columns =
  "id, incarnation, definition_id, definition, metadata, labels, version, status, head, size_bytes, wake_at, due_at, fence, crashes, created_at, updated_at, ended_at";
const yearMs = 365 * 24 * 60 * 60_000;

/** Returns the SQL that copies the execution `template` once for each row of `numbers`; its column `n` becomes part of the id. */
function copies(numbers: string, executions: string): string {
  return `INSERT INTO ${executions} (${columns})
    SELECT 'parked-' || n, incarnation, definition_id, definition, metadata, labels, version,
      CASE n % 3 WHEN 0 THEN 'completed' ELSE 'paused' END, head, size_bytes,
      CASE n % 3 WHEN 1 THEN ${Date.now() + yearMs} + n END, CASE n % 3 WHEN 1 THEN ${Date.now() + yearMs} + n END,
      0, 0, created_at, updated_at, CASE n % 3 WHEN 0 THEN updated_at END
    FROM ${executions}, ${numbers} WHERE id = 'template'`;
}

async function measure(store: SnapshotStore, park: () => Promise<void>): Promise<void> {
  await store.create(startCommit("template", { status: "paused", wakeAt: null }));
  const empty = await paceOf(store, "before");
  const from = performance.now();
  await park();
  console.log(`${others.toLocaleString("en")} others made in ${((performance.now() - from) / 1000).toFixed(0)} s`);
  const full = await paceOf(store, "among");
  for (const [what, one] of [
    ["alone", empty],
    ["among them", full],
  ] as const) {
    console.log(
      `claim of one due execution, ${what}: p50 ${ms(one.p50)}, p99 ${ms(one.p99)}, longest ${ms(one.longest)}; nothing due: p99 ${ms(one.idle)}`,
    );
  }
}

interface Pace {
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
  readonly idle: number;
}

async function paceOf(store: SnapshotStore, prefix: string): Promise<Pace> {
  for (let i = 0; i < claims; i++) await store.create(startCommit(`${prefix}-${i}`));
  const took: number[] = [];
  for (let i = 0; i < claims; i++) {
    const from = performance.now();
    const found = await store.claim({ owner: "bench", leaseMs: 3_600_000, limit: 1 });
    took.push(performance.now() - from);
    if (found.length !== 1) throw new TypeError(`Claim ${i} found ${found.length}`);
  }
  const idle: number[] = [];
  for (let i = 0; i < claims; i++) {
    const from = performance.now();
    await store.claim({ owner: "bench", leaseMs: 3_600_000, limit: 10 });
    idle.push(performance.now() - from);
  }
  return { p50: at(took, 0.5), p99: at(took, 0.99), longest: at(took, 1), idle: at(idle, 0.99) };
}

function at(figures: readonly number[], share: number): number {
  const sorted = figures.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}

const ms = (figure: number): string => `${figure.toFixed(2)} ms`;

if (values.store === undefined) {
  await withDatabase(async (path) => {
    const store = await storeFromUrl(`sqlite:${path}`);
    await measure(store, async () => {
      const db = new DatabaseSync(path);
      db.exec(
        copies(
          `(WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${others}) SELECT n FROM numbers)`,
          "executions",
        ),
      );
      db.close();
    });
    await store.close();
  });
} else {
  const { default: pg } = await import("pg");
  const schema = `bench_${process.pid}`;
  const url = new URL(values.store);
  url.searchParams.set("schema", schema);
  const site = await siteFromUrl(url.href);
  const store = await site.open(schema, { migrate: true });
  const client = new pg.Client(values.store);
  await client.connect();
  await measure(store, async () => {
    await client.query(
      copies(`generate_series(1, ${others}) AS n`, `"${schema}".executions`)
        .replace("metadata, version", "metadata, labels, version")
        .replace("metadata, version", "metadata, labels, version"),
    );
    await client.query(`ANALYZE "${schema}".executions`);
  });
  await client.end();
  await store.close();
  await site.drop(schema);
  await site.close();
}
