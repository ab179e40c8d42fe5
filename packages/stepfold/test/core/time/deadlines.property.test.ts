import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tries } from "../../../../../scripts/test/effort.ts";
import { readSnapshot } from "../../../src/core/reading/read-snapshot.ts";
import type { Snapshot } from "../../../src/core/snapshot/snapshot.ts";
import { apply } from "../../../src/core/transition/apply.ts";
import { closeDraft } from "../../../src/core/transition/draft/close-draft.ts";
import type { Draft, ScopeDraft } from "../../../src/core/transition/draft/draft.ts";
import { nextTimerAt, wakeAt } from "../../../src/core/transition/draft/draft-status.ts";
import { openDraft, scopeAt } from "../../../src/core/transition/draft/open-draft.ts";
import { evolve } from "../../../src/core/transition/evolve.ts";
import { due } from "../../../src/core/transition/plan.ts";
import { keptHistory, randomDefinition } from "../restore.fixture.ts";

const dice = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 20, maxLength: 80 });
const seeds = fc.integer({ min: 0, max: 2 ** 31 - 1 });

/** The scopes that are open and whose end is not decided, with their deadlines. */
function limited(draft: Draft): (ScopeDraft & { readonly deadlineAt: number })[] {
  const scopes = ["", ...draft.children.keys()].map((key) => scopeAt(draft, key)!);
  return scopes.filter(
    (scope): scope is ScopeDraft & { deadlineAt: number } =>
      scope.ended === null && !scope.ending && !(scope === draft && draft.closing) && scope.deadlineAt !== undefined,
  );
}

const later = 1_000_000;

describe("the deadlines of any execution", () => {
  it("say when somebody is needed at the latest, whatever else happens and however it was stored", () => {
    let seen = 0;
    fc.assert(
      fc.property(seeds, dice, (seed, thrown) => {
        keptHistory(randomDefinition(seed), thrown, ({ workflow, draft, restored }) => {
          const reopened = openDraft(workflow, restored);
          expect(wakeAt(reopened)).toBe(wakeAt(draft));
          for (const { deadlineAt } of draft.parked ? [] : limited(draft)) {
            seen++;
            expect(wakeAt(draft)).toBeLessThanOrEqual(deadlineAt);
            expect(nextTimerAt(draft, 0)).toBeLessThanOrEqual(deadlineAt);
            expect(nextTimerAt(reopened, 0)).toBeLessThanOrEqual(deadlineAt);
          }
        });
      }),
      { numRuns: tries(100) },
    );
    expect(seen).toBeGreaterThan(tries(100));
  });

  it("end what they belong to, once, when somebody comes, and leave the rest to go on", () => {
    let expired = 0;
    fc.assert(
      fc.property(seeds, dice, (seed, thrown) => {
        keptHistory(randomDefinition(seed), thrown, ({ workflow, restored }) => {
          const draft = openDraft(workflow, restored);
          if (draft.ended || draft.parked) return;
          for (let event = due(draft, later); event && !draft.ended; event = due(draft, later)) {
            const scope = "scope" in event ? event.scope : undefined;
            expect(evolve(draft, event)).toBe(true);
            if (event.type !== "expired") continue;
            expired++;
            expect(evolve(draft, { ...event, version: draft.version + 1 })).toBe(false);
            const ended = scopeAt(draft, scope);
            // a child that has failed and has nothing to undo is removed, so its scope is undefined
            const decided = ended === draft ? draft.closing : undefined;
            if (ended) expect(decided?.status ?? ended.ending?.status ?? ended.ended).toBe("failed");
          }
          const left = draft.ended ? [] : limited(draft);
          expect(left.filter(({ deadlineAt }) => deadlineAt <= later)).toEqual([]);
        });
      }),
      { numRuns: tries(100) },
    );
    expect(expired).toBeGreaterThan(tries(100));
  });

  it("end nothing before their time", () => {
    fc.assert(
      fc.property(seeds, dice, (seed, thrown) => {
        keptHistory(randomDefinition(seed), thrown, ({ workflow, draft }) => {
          const snapshot: Snapshot = closeDraft(draft);
          for (const { key, deadlineAt } of limited(draft)) {
            const event = {
              type: "expired",
              version: snapshot.version + 1,
              at: deadlineAt - 1,
              ...(key !== "" && { scope: key }),
            } as const;
            expect(apply(workflow, snapshot, event)).toBe(snapshot);
          }
        });
      }),
      { numRuns: tries(60) },
    );
  });

  it("are read from outside as they were written", () => {
    fc.assert(
      fc.property(seeds, dice, (seed, thrown) => {
        keptHistory(randomDefinition(seed), thrown, ({ workflow, restored }) => {
          expect(readSnapshot(JSON.parse(JSON.stringify(restored)), workflow)).toEqual(restored);
        });
      }),
      { numRuns: tries(40) },
    );
  });
});
