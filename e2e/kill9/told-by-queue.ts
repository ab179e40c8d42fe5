import type { WrittenLine } from "./log.ts";

/** What is due for so long is looked for in the store where a queue should have told of it. */
const queueGraceMs = 500;

/** Executions that clients started, and those of them that a worker had before anybody would have found them in the store. */
export function toldByQueue(lines: readonly WrittenLine[]): { readonly told: number; readonly started: number } {
  const [started, sentAt, claimedAt] = [new Set<string>(), new Map<string, number>(), new Map<string, number>()];
  for (const line of lines) {
    if (line.what === "started") started.add(line.workflowId);
    if (line.what === "committing" && line.first === 0) keepFirst(sentAt, line);
    if (line.what === "claimed") keepFirst(claimedAt, line);
  }
  const told = [...started].filter((workflowId) => {
    const [sent, claimed] = [sentAt.get(workflowId), claimedAt.get(workflowId)];
    return sent !== undefined && claimed !== undefined && claimed < sent + queueGraceMs;
  });
  return { told: told.length, started: started.size };
}

function keepFirst(times: Map<string, number>, { workflowId, at }: { readonly workflowId: string; readonly at: number }): void {
  times.set(workflowId, Math.min(at, times.get(workflowId) ?? at));
}
