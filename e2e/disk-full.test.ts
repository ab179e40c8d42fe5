import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findProgram } from "../scripts/servers/system.ts";
import { bench } from "./kill9/bench.ts";
import { type Fleet, until } from "./kill9/fleet.ts";
import { readLogs } from "./kill9/log.ts";
import { faultsOf, noFaults } from "./kill9/outcome.ts";
import { reportRun } from "./kill9/report.ts";
import { run } from "./kill9/run.ts";

/**
 * The largest size of a file while the disk is full. It is more than the processes write into their own logs, so only the store is
 * refused.
 */
const roomBytes = 1_500_000;
const wantedRefusals = 10;

/** Limits the size of the files that these processes write. The kernel refuses larger writes, as on a full disk. */
function limit(prlimit: string, { members }: Fleet, bytes: number | "unlimited"): void {
  for (const { child } of members) {
    const { status, stderr } = spawnSync(prlimit, ["--pid", String(child.pid), `--fsize=${bytes}:`], { encoding: "utf8" });
    if (status !== 0) throw new TypeError(stderr);
  }
}

describe("a disk that is full", () => {
  it("is told as STORE_UNAVAILABLE, costs nothing that was acknowledged, and is forgotten when there is room", {
    timeout: 300_000,
  }, async ({ skip }) => {
    const prlimit = findProgram("prlimit");
    if (!prlimit) {
      if (process.env.REQUIRE_SERVICES === "1") throw new TypeError("prlimit (util-linux) is not installed");
      return skip("NOT TESTED: prlimit (util-linux) is not installed");
    }
    const { folder, target } = await bench("sqlite", skip);
    const log = join(folder, "kill9.db-wal");
    const ended = await run({ target, folder, workers: 2, clients: 1, client: { openAtOnce: 40 } }, async (fleet, logs) => {
      await until("there is something to be continued", 30_000, async () => statSync(log).size > roomBytes / 2);
      limit(prlimit, fleet, roomBytes);
      const refusals = (): number =>
        readLogs(logs).filter(
          (line) => line.what === "refused" && ["commit", "create"].includes(line.action) && line.code === "STORE_UNAVAILABLE",
        ).length;
      await until("writes are refused", 60_000, async () => refusals() >= wantedRefusals);
      limit(prlimit, fleet, "unlimited");
      return refusals();
    });
    console.log(reportRun(ended).join("\n"));
    expect(faultsOf(ended)).toEqual(noFaults);
    expect(ended.made).toBeGreaterThanOrEqual(wantedRefusals);
  });
});
