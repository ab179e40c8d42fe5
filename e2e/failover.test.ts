import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { effort } from "../scripts/test/effort.ts";
import { failovers } from "./kill9/failover.ts";
import { failoverBench } from "./kill9/failover-bench.ts";
import { notTested } from "./kill9/not-tested.ts";
import { reportFailovers } from "./kill9/report.ts";

it("a replica of Redis that takes over without the latest commits: nothing has two holders, and what was lost runs again", {
  timeout: 300_000,
}, async ({ skip }) => {
  if (!effort.servers) return notTested("Redis is a server", skip);
  const folder = mkdtempSync(join(tmpdir(), "stepfold-failover-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const servers = await failoverBench(folder);
  if (!servers) return notTested("the programs of Redis are not installed", skip);
  onTestFinished(() => servers.close());
  const ended = await failovers({ ...servers, folder, times: 1 });
  console.log(reportFailovers(ended).join("\n"));
  expect(ended.made.flatMap(({ byTwo }) => byTwo)).toEqual([]);
  expect(ended.made[0]!.repeated.length).toBeGreaterThan(0);
});
