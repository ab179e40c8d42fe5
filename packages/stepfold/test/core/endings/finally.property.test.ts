import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tries } from "../../../../../scripts/test/effort.ts";
import { readSnapshot } from "../../../src/core/reading/read-snapshot.ts";
import { isTerminal, type Snapshot } from "../../../src/core/snapshot/snapshot.ts";
import { apply, fold } from "../../../src/core/transition/apply.ts";
import { keptHistory, randomDefinition } from "../restore.fixture.ts";

const dice = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 20, maxLength: 80 });
const seeds = fc.integer({ min: 0, max: 2 ** 31 - 1 });

describe("what runs at the end of any execution", () => {
  it("begins once, when the end is decided, and the end is what was decided, or its own failure", () => {
    const ends = { completed: 0, failed: 0, cancelled: 0, overruled: 0 };
    fc.assert(
      fc.property(seeds, dice, (seed, thrown) => {
        let last: Snapshot[] = [];
        keptHistory(randomDefinition(seed), thrown, ({ workflow, events }) => {
          const [started, ...others] = events;
          if (!workflow.finally) return;
          let snapshot = fold(workflow, [started]);
          last = [snapshot];
          for (const event of others) {
            snapshot = apply(workflow, snapshot, event);
            last.push(snapshot);
          }
        });
        const closings = last.filter((snapshot) => snapshot.closing);
        expect(new Set(closings.map(({ closing }) => JSON.stringify(closing))).size).toBeLessThanOrEqual(1);
        for (const snapshot of last) {
          const isLast = snapshot.activePaths.some(({ id }) => id === "finally" || id.startsWith("finally."));
          // while the `finally` path and its forks run, no other path is open
          if (snapshot.closing) expect(snapshot.activePaths.every(({ id }) => id === "finally" || id.startsWith("finally."))).toBe(true);
          else expect(isLast).toBe(false);
        }
        const end = last.at(-1);
        const decided = closings[0]?.closing;
        if (!end || !isTerminal(end.status)) return;
        expect(decided).toBeDefined();
        if (decided!.status === "completed" && end.status === "failed") ends.overruled++;
        else {
          expect(end.status).toBe(decided!.status);
          expect(end.output).toEqual(decided!.output);
          expect(end.currentNodeId).toBe(decided!.nodeId);
          ends[decided!.status]++;
        }
      }),
      { numRuns: tries(400) },
    );
    const { completed, failed, cancelled, overruled } = ends;
    for (const count of [failed, cancelled, completed + overruled]) expect(count).toBeGreaterThan(0);
  });

  it("is read from outside as it was written, and refused where it cannot be so", () => {
    let seen = 0;
    fc.assert(
      fc.property(seeds, dice, (seed, thrown) => {
        keptHistory(randomDefinition(seed), thrown, ({ workflow, restored }) => {
          if (!restored.closing) return;
          seen++;
          expect(readSnapshot(JSON.parse(JSON.stringify(restored)), workflow)).toEqual(restored);
          for (const closing of [
            5,
            { status: "active", nodeId: null },
            { status: "failed", nodeId: 7 },
            { status: "failed", nodeId: null, error: 1 },
          ])
            expect(() => readSnapshot({ ...restored, closing } as never, workflow)).toThrow(
              expect.objectContaining({ code: "SNAPSHOT_INVALID" }),
            );
          const over = { ...restored, status: restored.closing.status, activePaths: [], childStates: undefined, mapItems: undefined };
          expect(() => readSnapshot(JSON.parse(JSON.stringify(over)), workflow)).toThrow("/closing");
        });
      }),
      { numRuns: tries(100) },
    );
    expect(seen).toBeGreaterThan(tries(100) / 10);
  });
});
