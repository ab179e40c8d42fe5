import type { WrittenLine } from "./log.ts";

/** How long an execution is due before a worker with a queue looks for it in the store, in milliseconds. */
const queueGraceMs = 500;

/** What a queue did for the executions that clients started. */
interface ToldByQueue {
  readonly started: number;
  /** Of these, the number of those about which a worker got a message, early or late. */
  readonly delivered: number;
  /** Of these, the number of those that a worker claimed before it would have found them in the store without the queue. */
  readonly told: number;
}

export function toldByQueue(lines: readonly WrittenLine[]): ToldByQueue {
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
  const messages = new Set(lines.flatMap((line) => (line.what === "delivered" ? [line.workflowId] : [])));
  return { started: started.size, delivered: [...started].filter((id) => messages.has(id)).length, told: told.length };
}

function keepFirst(times: Map<string, number>, { workflowId, at }: { readonly workflowId: string; readonly at: number }): void {
  times.set(workflowId, Math.min(at, times.get(workflowId) ?? at));
}
