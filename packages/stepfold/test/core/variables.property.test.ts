import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tries } from "../../../../scripts/test/effort.ts";
import { ownerOf, parentKey } from "../../src/core/snapshot/address.ts";
import type { Event } from "../../src/core/snapshot/event.ts";
import type { ScopeHead, Snapshot } from "../../src/core/snapshot/snapshot.ts";
import { fold } from "../../src/core/transition/apply.ts";
import { closeDraft } from "../../src/core/transition/draft/close-draft.ts";
import { variablesAt } from "../../src/core/transition/draft/draft.ts";
import { openDraft, scopeAt } from "../../src/core/transition/draft/open-draft.ts";
import type { Json } from "../../src/core/values/json.ts";
import { keptHistory, randomDefinition } from "./restore.fixture.ts";

const dice = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 20, maxLength: 80 });
const seeds = fc.integer({ min: 0, max: 2 ** 31 - 1 });

const scopesOf = (snapshot: Snapshot): [string, ScopeHead][] => [["", snapshot], ...Object.entries(snapshot.childStates ?? {})];

/** True if a path waits for this scope and for each scope around it. A child that has ended and is kept to be undone has no such path. */
function isWaitedFor(snapshot: Snapshot, key: string): boolean {
  if (key === "") return true;
  return ownerOf(snapshot, key) !== undefined && isWaitedFor(snapshot, parentKey(key));
}

/** Computes the variables that a path reads from all events, without the variables that the snapshot holds. */
function readBy(events: readonly Event[], snapshot: Snapshot, key: string, since: number): Record<string, Json> {
  const outer = key === "" ? {} : readBy(events, snapshot, parentKey(key), ownerOf(snapshot, key)!.since);
  const own = events.filter((event) => event.type === "completed" && (event.scope ?? "") === key && event.version <= since);
  return Object.assign({}, outer, ...own.map((event) => (event as { variables?: object }).variables ?? {})) as Record<string, Json>;
}

describe("variables of any execution", () => {
  it("are read as they were when the path came, by every open path, in whatever scope it is", () => {
    let reads = 0;
    fc.assert(
      fc.property(seeds, dice, (seed, thrown) => {
        keptHistory(randomDefinition(seed), thrown, ({ workflow, draft, events, restored }) => {
          const reopened = openDraft(workflow, restored);
          for (const [key, { activePaths }] of scopesOf(restored)) {
            if (!isWaitedFor(restored, key)) continue;
            for (const { since, undoes } of activePaths) {
              // a path that undoes a step of a child reads the variables of that child
              const undone = undoes?.scope ?? key;
              expect(variablesAt(scopeAt(reopened, undone)!, since)).toEqual(variablesAt(scopeAt(draft, undone)!, since));

              const expected = readBy(events, restored, key, since);
              expect(variablesAt(scopeAt(draft, key)!, since)).toEqual(expected);
              reads += Object.keys(expected).length;
            }
          }
        });
      }),
      { numRuns: tries(100) },
    );
    expect(reads).toBeGreaterThan(tries(100));
  });

  it("are the same whether their execution was stored and loaded after any commit or went on in one process", () => {
    fc.assert(
      fc.property(seeds, dice, (seed, thrown) => {
        keptHistory(randomDefinition(seed), thrown, ({ workflow, draft, events, restored, restoredFromCheckpoint }) => {
          const { variables, childStates = {}, sizeBytes } = closeDraft(draft);
          for (const other of [restored, restoredFromCheckpoint, fold(workflow, events)]) {
            expect(other.variables).toEqual(variables);
            expect(other.sizeBytes).toBe(sizeBytes);
            for (const [key, child] of Object.entries(childStates)) expect(other.childStates![key]!.variables).toEqual(child.variables);
          }
        });
      }),
      { numRuns: tries(100) },
    );
  });

  it("are held no longer than a path can read them: at most one more value of each than there are paths", () => {
    let older = 0;
    fc.assert(
      fc.property(seeds, dice, (seed, thrown) => {
        keptHistory(randomDefinition(seed), thrown, ({ restored }) => {
          for (const [, scope] of scopesOf(restored)) {
            const { variables = {}, activePaths } = scope as Snapshot;
            for (const values of Object.values(variables)) {
              older += values.length - 1;
              for (const [index, { version }] of values.slice(0, -1).entries())
                expect(activePaths.some(({ since }) => since >= version && since < values[index + 1]!.version)).toBe(true);
            }
          }
        });
      }),
      { numRuns: tries(500) },
    );
    expect(older).toBeGreaterThan(5);
  });
});
