import { leanHead } from "../../src/core/snapshot/large-values.ts";
import { closeDraft, closedHead } from "../../src/core/transition/draft/close-draft.ts";
import type { ChangedChild, Commit } from "../../src/ports/snapshot-store.ts";
import { keptHistory, randomDefinition } from "../core/restore.fixture.ts";

/** The commits of a random history that the core has made, with children, maps and compensations. */
export function engineCommits(workflowId: string, seed: number): Commit[] {
  const commits: Commit[] = [];
  let before: readonly string[] = [];
  let written = 0;
  keptHistory(randomDefinition(seed), [seed], ({ draft, events }) => {
    if (events.length === written) return;
    const states = Object.entries(closeDraft(draft).childStates ?? {});
    const children: ChangedChild[] = states.map(([key, { context: _, variables: __, ...head }]) => ({ key, head: leanHead(head) }));
    const keys = states.map(([key]) => key);
    for (const key of before) if (!keys.includes(key)) children.push({ key, head: null });
    commits.push({
      workflowId,
      incarnation: "i",
      expectedVersion: written - 1,
      commitId: `${workflowId}-${written}`,
      head: { ...closedHead(draft), workflowId },
      events: events.slice(written).map((event) => (event.type === "started" ? { ...event, workflowId } : event)),
      children,
      wakeAt: 0,
    });
    before = keys;
    written = events.length;
  });
  return commits;
}
