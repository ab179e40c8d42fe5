import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tries } from "../../../../scripts/test/effort.ts";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import { explain } from "../../src/core/explain/explain.ts";
import { waits } from "../../src/core/explain/waits.ts";
import { readSnapshot } from "../../src/core/reading/read-snapshot.ts";
import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";
import { plan } from "../../src/core/transition/plan.ts";
import type { Json } from "../../src/core/values/json.ts";
import { viaJson } from "../engine/engine.fixture.ts";
import { RandomExecution, refusable } from "./hostile-snapshots.fixture.ts";
import { mutate } from "./mutate-json.fixture.ts";

const seeds = fc.integer({ min: 0, max: 2 ** 30 });
const stepLimit = 40;

/** The features of a snapshot, so that the test can tell which features it has covered. */
function traits(snapshot: Snapshot): string[] {
  const children = Object.values(snapshot.childStates ?? {});
  const paths = [snapshot, ...children].flatMap(({ activePaths }) => activePaths);
  const found: Record<string, unknown> = {
    [snapshot.status]: true,
    children: children.length > 0,
    kept: children.some(({ kept }) => kept),
    queued: children.some(({ queued }) => queued !== undefined),
    rounds: snapshot.rounds,
    draining: paths.some(({ draining }) => draining),
    answers: paths.some((path) => path.waits?.some(({ answers }) => answers)),
    inbox: snapshot.inbox,
    undoes: paths.some(({ undoes }) => undoes),
    "undoes in a child": paths.some(({ undoes }) => undoes?.scope !== undefined),
    compensations: snapshot.compensations,
    retryState: snapshot.retryState,
  };
  return [...Object.keys(found).filter((what) => found[what]), ...paths.map(({ status }) => status)];
}

describe("a snapshot that this engine made", () => {
  it("is accepted after a trip through JSON, and is the same", { timeout: 30_000 }, async () => {
    const seen = new Map<string, number>();
    const property = fc.asyncProperty(seeds, async (seed) => {
      const execution = new RandomExecution(seed);
      await execution.drive((snapshot) => {
        expect(readSnapshot(viaJson(snapshot), execution.engine.workflow)).toEqual(snapshot);
        for (const what of traits(snapshot)) seen.set(what, (seen.get(what) ?? 0) + 1);
      });
    });
    await fc.assert(property, { numRuns: tries(20) });
    expect(seen.size).toBeGreaterThan(12);
  });
});

describe("a snapshot in which somebody has changed one place", () => {
  it("is refused with the place, or goes on and never throws anything but a StepfoldError, nor hangs", { timeout: 30_000 }, async () => {
    const verdicts = { refused: 0, accepted: 0 };
    const property = fc.asyncProperty(seeds, async (seed) => {
      const execution = new RandomExecution(seed);
      const kept: Snapshot[] = [];
      await execution.drive(
        (snapshot) => {
          kept.push(snapshot);
        },
        12 + (seed % 30),
      );
      for (let i = 0; i < 6; i++) {
        const changed = viaJson(execution.pick(kept)) as unknown as Json;
        const what = mutate(changed, (choices) => execution.pick(choices));
        const read = readOrRefuse(execution, changed, what);
        verdicts[read ? "accepted" : "refused"]++;
        if (read) await goOn(execution, read, what);
      }
    });
    await fc.assert(property, { numRuns: tries(15) });
    expect(verdicts.refused).toBeGreaterThan(verdicts.accepted / 4);
    expect(verdicts.accepted).toBeGreaterThan(8);
  });
});

function readOrRefuse({ engine }: RandomExecution, changed: unknown, what: string): Snapshot | null {
  try {
    return readSnapshot(changed, engine.workflow);
  } catch (error) {
    if (!StepfoldError.is(error)) throw new Error(`${what}: ${String((error as Error).stack)}`);
    expect(["SNAPSHOT_INVALID", "DEFINITION_CHANGED", "VALUE_NOT_JSON", "SNAPSHOT_TOO_NEW"], what).toContain(error.code);
    if (error.code === "SNAPSHOT_INVALID") expect(error.details, what).toMatchObject({ pointer: expect.stringMatching(/^\//) });
    return null;
  }
}

/** Makes every kind of call with a snapshot. Each call is refused, or gives a snapshot that can be read again. */
async function goOn(execution: RandomExecution, read: Snapshot, what: string): Promise<void> {
  const { engine, clock } = execution;
  const given = { ...read };
  try {
    waits(read);
    explain(read);
    explain(read, engine.workflow);
    plan(read, clock.now());
    for (const later of [0, 1_000_000, 1e10]) {
      clock.set(clock.now() + later);
      const after = await refusable(read, () => engine.execute({ snapshot: given, stepLimit, concurrency: 1, definition: "current" }));
      // an execution that is still active has used all steps of its limit; otherwise steps were performed without effect
      if (after.status === "active") expect(after.steps - read.steps).toBe(stepLimit);
      again(execution, after);
    }
    for (const command of [
      { type: "cancel" },
      { type: "signal", name: "go" },
      { type: "closeMap", node: "open" },
      { type: "completeMap", node: "many" },
      ...waits(read).map(({ id }) => ({ type: "resume", target: id, payload: { approved: true }, by: "bob" }) as const),
    ] as const) {
      const after = await refusable(read, () => engine.send(given, command));
      again(execution, after);
      again(execution, await refusable(after, () => engine.execute({ snapshot: after, stepLimit, concurrency: 1 })));
    }
  } catch (error) {
    throw new Error(`${what}: ${(error as Error).stack}`);
  }
}

function again({ engine }: RandomExecution, snapshot: Snapshot): void {
  expect(readSnapshot(viaJson(snapshot), engine.workflow)).toEqual(viaJson(snapshot));
}
