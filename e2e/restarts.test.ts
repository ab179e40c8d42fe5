import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished, type TestContext } from "vitest";
import { effort } from "../scripts/test/effort.ts";
import { notTested } from "./kill9/not-tested.ts";
import { faultsOf, noFaults } from "./kill9/outcome.ts";
import { forgetfulRedis, type OwnServer, ownPostgres, ownRedis } from "./kill9/own-server.ts";
import { postgresTarget } from "./kill9/postgres-target.ts";
import { redisTarget } from "./kill9/redis-target.ts";
import { reportRun } from "./kill9/report.ts";
import { run } from "./kill9/run.ts";
import type { Target } from "./kill9/stored.ts";

const { restarts } = effort;

const servers: readonly {
  readonly name: string;
  readonly start: (folder: string) => Promise<OwnServer | null>;
  readonly target: (url: string) => Promise<Target>;
}[] = [
  { name: "PostgreSQL", start: ownPostgres, target: postgresTarget },
  { name: "Redis with appendfsync always", start: ownRedis, target: redisTarget },
];

/** Starts a server that belongs to the test alone, with its data in the folder. */
async function serverFor(folder: string, { name, start }: Pick<(typeof servers)[number], "name" | "start">, skip: TestContext["skip"]) {
  if (!effort.servers) return notTested(`${name} is a server`, skip);
  const server = await start(folder);
  if (!server) return notTested(`the programs of ${name} are not installed`, skip);
  onTestFinished(() => server.close());
  return server;
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "stepfold-restarts-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** Lets processes work while the servers that they need go away, and compares the stored rows with the acknowledged calls. */
async function expectNoLoss(target: Target, folder: string, crashes: readonly (() => Promise<unknown>)[]): Promise<void> {
  onTestFinished(() => target.drop());
  const ended = await run({ target, folder, workers: 3, clients: 2, client: { openAtOnce: 30 } }, async () => {
    for (const crash of crashes) {
      await sleep(800 + Math.random() * 700);
      await crash();
    }
    await sleep(500);
  });
  console.log(reportRun(ended).join("\n"));
  expect(faultsOf(ended)).toEqual(noFaults);
  expect(ended.acknowledged.transitions).toBeGreaterThan(100);
}

describe.each(servers)("$name that crashes under load", (server) => {
  it(`${restarts} times costs nothing that was acknowledged`, { timeout: 300_000 + restarts * 5_000 }, async ({ skip }) => {
    const folder = newFolder();
    const own = await serverFor(folder, server, skip);
    const crashes = Array.from({ length: restarts }, () => () => own.restart());
    await expectNoLoss(await server.target(own.url), folder, crashes);
  });
});

describe("a queue that forgets everything under load", () => {
  it("alone, with its database and after it, costs nothing that was acknowledged", { timeout: 300_000 }, async ({ skip }) => {
    const folder = newFolder();
    const database = await serverFor(folder, servers[0]!, skip);
    const redis = await serverFor(folder, { name: "Redis", start: forgetfulRedis }, skip);
    const target: Target = { ...(await postgresTarget(database.url)), queueUrl: `bullmq:${redis.url}/?prefix=restarts` };
    await expectNoLoss(target, folder, [
      () => redis.restart(),
      () => Promise.all([redis.restart(), database.restart()]),
      () => database.restart(),
      () => redis.restart(),
    ]);
  });
});
