import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readSnapshot } from "../core/read-snapshot.ts";
import { viaJson } from "./engine.fixture.ts";
import { RandomExecution } from "./hostile-snapshots.fixture.ts";

const seeds = fc.integer({ min: 0, max: 2 ** 30 });

describe("a snapshot that this engine made", () => {
  it("is accepted after a trip through JSON, and is the same", async () => {
    const seen: Record<string, number> = {};
    const see = (what: string, is: boolean): void => {
      seen[what] = (seen[what] ?? 0) + Number(is);
    };
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const execution = new RandomExecution(seed);
        await execution.drive((snapshot) => {
          expect(readSnapshot(viaJson(snapshot), execution.engine.workflow)).toEqual(snapshot);
          const children = Object.values(snapshot.childStates ?? {});
          const paths = [snapshot, ...children].flatMap(({ activePaths }) => activePaths);
          see(snapshot.status, true);
          for (const path of paths) see(path.status, true);
          see("children", children.length > 0);
          see(
            "kept",
            children.some(({ kept }) => kept),
          );
          see(
            "queued",
            children.some(({ queued }) => queued !== undefined),
          );
          see("rounds", snapshot.rounds !== undefined);
          see(
            "draining",
            paths.some(({ draining }) => draining),
          );
          see(
            "answers",
            paths.some(({ waits }) => waits?.some(({ answers }) => answers)),
          );
          see("inbox", snapshot.inbox !== undefined);
          see(
            "undoes",
            paths.some(({ undoes }) => undoes),
          );
          see(
            "undoes in a child",
            paths.some(({ undoes }) => undoes?.scope !== undefined),
          );
          see("compensations", snapshot.compensations !== undefined);
          see("retryState", snapshot.retryState !== undefined);
        });
      }),
      { numRuns: 60 },
    );
    for (const [what, times] of Object.entries(seen)) expect(times, what).toBeGreaterThan(0);
    console.log(seen);
  });
});
