import { expect } from "vitest";
import type { CompiledWorkflow } from "../../src/core/definition/compiled.ts";
import { readSnapshot } from "../../src/core/reading/read-snapshot.ts";
import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";

/** Copies a snapshot and replaces the values at the given JSON pointers; undefined removes a member. */
export function changed(snapshot: Snapshot, changes: Readonly<Record<string, unknown>>): unknown {
  const copy = JSON.parse(JSON.stringify(snapshot)) as Record<string, unknown>;
  for (const [pointer, value] of Object.entries(changes)) {
    const keys = pointer
      .split("/")
      .slice(1)
      .map((key) => key.replaceAll("~1", "/"));
    const last = keys.pop()!;
    let place = copy;
    for (const key of keys) place = place[key] as Record<string, unknown>;
    if (value === undefined && Array.isArray(place)) place.splice(Number(last), 1);
    else if (value === undefined) delete place[last];
    else place[last] = JSON.parse(JSON.stringify(value));
  }
  return copy;
}

/** Expects that a snapshot with these changes is refused, and that the error names `pointer`. */
export function expectRefused(
  workflow: CompiledWorkflow,
  snapshot: Snapshot,
  changes: Readonly<Record<string, unknown>>,
  pointer: string,
  reason: string | RegExp = "",
): void {
  expect(() => readSnapshot(changed(snapshot, changes), workflow)).toThrow(
    expect.objectContaining({
      code: "SNAPSHOT_INVALID",
      details: { pointer, reason: typeof reason === "string" ? expect.stringContaining(reason) : expect.stringMatching(reason) },
    }),
  );
}
