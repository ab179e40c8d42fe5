import type { Commit } from "../../../ports/snapshot-store.ts";
import { writingInstead } from "../altered-commits.ts";
import type { BrokenStore } from "../broken-store.ts";

/** Mistakes in what a store keeps of durable code. */
export const brokenCode: readonly BrokenStore[] = [
  {
    name: "forgets what an answer has given to code",
    caughtBy: "code: goes on in another process where it stood, with what its steps have given",
    breaks: (store) => writingInstead(store, withoutResultsOfAnswers),
  },
];

function withoutResultsOfAnswers(commit: Commit): Commit {
  const events = commit.events.map((event) => {
    if (event.type !== "resumed") return event;
    const { consequences: _, ...rest } = event;
    return rest;
  });
  return { ...commit, events };
}
