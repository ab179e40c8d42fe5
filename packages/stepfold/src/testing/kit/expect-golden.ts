import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { readSnapshot } from "../../core/reading/read-snapshot.ts";
import type { Event } from "../../core/snapshot/event.ts";
import { Replay } from "../../core/transition/replay.ts";
import { canonicalJson } from "../../core/values/canonical-json.ts";
import { isJsonObject, type Json } from "../../core/values/json.ts";
import { addressesIn } from "./address-book.ts";
import { type GoldenSource, goldenSourceOf } from "./golden-source.ts";
import { nodeModule } from "./node-module.ts";
import { TestFailure } from "./test-failure.ts";
import type { TestRun } from "./test-run.ts";
import { withoutIdsAndTimes } from "./without-ids-and-times.ts";

/** A golden file: what a test has done, and the whole history, which later versions open and replay. */
interface Golden {
  readonly format: 1;
  readonly workflow: string;
  readonly status: string;
  readonly way: readonly string[];
  readonly waits: readonly unknown[];
  readonly output: Json;
  readonly error: unknown;
  readonly definition: unknown;
  readonly events: readonly Event[];
}

/** Options of `expectGolden`. */
export interface GoldenOptions {
  /** True: the file is written anew. Default: if the environment variable `UPDATE_GOLDEN` is set. */
  readonly update?: boolean | undefined;
}

/**
 * Compares a test with its golden file: the way, the waits, the status, the output and the events, without ids and times. Then opens the history in the
 * file and replays the code of the workflow at every version of it, so that a later version of the code, or of Stepfold, is known to go on with what this
 * one has stored.
 *
 * A file that does not exist is written, unless the environment variable `CI` is set. `UPDATE_GOLDEN=1` writes it anew.
 *
 * ```ts
 * await expectGolden(t, new URL("subscription.json", import.meta.url));
 * ```
 *
 * @param file a path, from the working directory, or a URL
 * @throws TestFailure `GOLDEN_DIFFERS`, `GOLDEN_INVALID`
 */
export async function expectGolden(t: Pick<TestRun, "workflowId">, file: string | URL, options: GoldenOptions = {}): Promise<void> {
  const source = goldenSourceOf(t);
  if (!source) throw new StepfoldError("OPTION_INVALID", { option: "t", reason: "must be what testRun returns" });
  const files = nodeModule("node:fs/promises");
  if (!files) throw new TestFailure("GOLDEN_INVALID", "There are no files here, so golden files need Node.js, Bun or Deno");
  const { env } = process;
  const { readFile, writeFile } = files;
  const text = await readFile(file, "utf8").catch(() => null);
  const isUpdated = options.update ?? Boolean(env.UPDATE_GOLDEN);
  if (isUpdated || (text === null && !env.CI)) return writeFile(file, `${JSON.stringify(goldenOf(source), null, 2)}\n`);
  if (text === null)
    throw new TestFailure("GOLDEN_INVALID", `There is no golden file ${file}: run the test once without CI, or with UPDATE_GOLDEN=1`);
  const golden = goldenIn(text, file);
  compare(golden, source, file);
  await open(golden, source, file);
}

function goldenOf({ snapshot, events, way, waits, prepared }: GoldenSource): Golden {
  const { definition, status, output = null, error = null } = snapshot;
  return {
    format: 1,
    workflow: definition.id,
    status,
    way,
    waits: waits.map((wait) => withoutIdsAndTimes(wait)),
    output,
    error,
    definition: prepared.compiled.definition,
    events,
  };
}

function goldenIn(text: string, file: string | URL): Golden {
  try {
    const golden: unknown = JSON.parse(text);
    if (isJsonObject(golden) && golden.format === 1 && Array.isArray(golden.events)) return golden as unknown as Golden;
  } catch (error) {
    throw new TestFailure("GOLDEN_INVALID", `The golden file ${file} is not JSON`, error);
  }
  throw new TestFailure("GOLDEN_INVALID", `The file ${file} is not a golden file of this version`);
}

function compare(golden: Golden, source: GoldenSource, file: string | URL): void {
  const now = goldenOf(source);
  for (const member of ["workflow", "status", "way", "waits", "output", "error"] as const)
    requireSame(`${member} of the test`, golden[member], now[member], file);
  const before = eventsOf(golden.events);
  const after = eventsOf(now.events);
  for (let i = 0; i < Math.max(before.length, after.length); i++) requireSame(`event ${i}`, before[i] ?? null, after[i] ?? null, file);
}

function requireSame(what: string, before: unknown, now: unknown, file: string | URL): void {
  const [expected, actual] = [canonicalJson(plain(before)), canonicalJson(plain(now))];
  if (expected === actual) return;
  const hint = "If that is right, write the file anew with UPDATE_GOLDEN=1";
  throw new TestFailure("GOLDEN_DIFFERS", `The ${what} differs from ${file}.\n  file: ${expected}\n  now:  ${actual}\n${hint}`);
}

/** Returns a value as it is after it was written and read as JSON. */
function plain(value: unknown): Json {
  return JSON.parse(JSON.stringify(value ?? null)) as Json;
}

/** Returns events without ids and times, each with the address of its step. */
function eventsOf(events: readonly Event[]): unknown[] {
  const addresses = addressesIn(events);
  return events.map((event) => {
    const rest = withoutIdsAndTimes(event);
    return "nodeId" in event && "pathId" in event && event.nodeId !== undefined
      ? { ...rest, step: addresses.of({ ...event, nodeId: event.nodeId }) }
      : rest;
  });
}

/** Opens the history of a golden file, and replays the code at every version of it. @throws TestFailure */
async function open({ definition, events }: Golden, { prepare, replay }: GoldenSource, file: string | URL): Promise<void> {
  const workflow = prepare(definition);
  const history = new Replay(workflow.compiled);
  for (const event of events) {
    if (!history.add(event))
      throw new TestFailure("GOLDEN_INVALID", `Version ${event.version} of the history in ${file} can no longer be applied`);
    const snapshot = history.snapshot()!;
    const difference = await replay(workflow, snapshot);
    if (difference === null) continue;
    const what = `The code of "${snapshot.definition.id}" cannot go on with version ${event.version} of the history in ${file}`;
    throw new TestFailure(
      "CODE_NOT_REPEATABLE",
      `${what}: ${difference}. Let old executions go on with step.changed() or a further version`,
    );
  }
  try {
    readSnapshot(plain(history.snapshot()), workflow.compiled);
  } catch (error) {
    throw new TestFailure("GOLDEN_INVALID", `The execution in ${file} can no longer be opened: ${String(error)}`, error);
  }
}
