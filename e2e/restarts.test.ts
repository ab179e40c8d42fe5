import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { faultsOf, noFaults } from "./kill9/outcome.ts";
import { type OwnServer, ownPostgres, ownRedis } from "./kill9/own-server.ts";
import { postgresTarget } from "./kill9/postgres-target.ts";
import { redisTarget } from "./kill9/redis-target.ts";
import { reportRun } from "./kill9/report.ts";
import { run } from "./kill9/run.ts";
import type { Target } from "./kill9/stored.ts";

const restarts = Number(process.env.STEPFOLD_RESTARTS ?? 3);

const servers: readonly {
  readonly name: string;
  readonly start: (folder: string) => Promise<OwnServer | null>;
  readonly target: (url: string) => Promise<Target>;
}[] = [
  { name: "PostgreSQL", start: ownPostgres, target: postgresTarget },
  { name: "Redis with appendfsync always", start: ownRedis, target: redisTarget },
];

describe.each(servers)("$name that crashes under load", ({ name, start, target: targetOf }) => {
  it(`${restarts} times costs nothing that was acknowledged`, { timeout: 300_000 + restarts * 5_000 }, async ({ skip }) => {
    const folder = mkdtempSync(join(tmpdir(), "stepfold-restarts-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
    const server = await start(folder);
    if (!server) {
      if (process.env.REQUIRE_SERVICES === "1") throw new TypeError(`${name}: its programs are not installed`);
      return skip(`NOT TESTED: the programs of ${name} are not installed`);
    }
    onTestFinished(() => server.close());
    const target = await targetOf(server.url);
    onTestFinished(() => target.drop());
    const ended = await run({ target, folder, workers: 3, clients: 2, client: { openAtOnce: 30 } }, async () => {
      for (let i = 0; i < restarts; i++) {
        await sleep(800 + Math.random() * 700);
        await server.restart();
      }
      await sleep(500);
    });
    console.log(reportRun(ended).join("\n"));
    expect(faultsOf(ended)).toEqual(noFaults);
    expect(ended.acknowledged.transitions).toBeGreaterThan(100);
  });
});
