import { type EpochMs, type Snapshot, waits } from "stepfold";
import { shellQuote } from "../execution/shell-quote.ts";
import { printable } from "../text/printable.ts";
import type { Store } from "./database.ts";
import { endedAmong } from "./ended-among.ts";

/** A wait for another execution that nothing will end. */
interface WaitFinding {
  readonly workflowId: string;
  readonly sentence: string;
}

/** What was found about the executions that wait for others. */
export interface ExaminedWaits {
  /** The number of executions that were looked at. */
  readonly count: number;
  readonly isPartial: boolean;
  readonly findings: readonly WaitFinding[];
}

const pageSize = 100;
/** The most executions that are loaded. */
const maxLoaded = 2_000;
/** A newer wait is not looked at: its execution may be about to begin. */
const graceMs = 60_000;

/** A wait of an execution for the end of another one. */
interface ChildWait {
  readonly workflowId: string;
  readonly address: string;
  readonly child: string;
}

/** Finds executions that wait for another one which has ended, or which does not exist. */
export async function examineWaits(store: Store, now: EpochMs): Promise<ExaminedWaits> {
  const findings: WaitFinding[] = [];
  let count = 0;
  let cursor: string | null = null;
  do {
    const page = await store.list({ waiting: { kind: "child" }, limit: pageSize, ...(cursor !== null && { cursor }) });
    const loaded = await Promise.all(page.items.map(({ workflowId }) => store.load(workflowId)));
    const awaited = loaded.flatMap((snapshot) => (snapshot ? childWaits(snapshot, now) : []));
    const ended = await endedAmong(
      store,
      awaited.map(({ child }) => child),
      now,
    );
    for (const { workflowId, address, child } of awaited) {
      const state = ended.get(child);
      if (state !== undefined) findings.push({ workflowId, sentence: sentenceOf(workflowId, address, child, state) });
    }
    count += page.items.length;
    cursor = page.nextCursor;
  } while (cursor !== null && count < maxLoaded);
  return { count, isPartial: cursor !== null, findings };
}

/** The waits for other executions, without those to which a message is still under way. */
function childWaits(snapshot: Snapshot, now: EpochMs): ChildWait[] {
  const { workflowId, outbox = [] } = snapshot;
  const written = new Set(outbox.flatMap((message) => ("to" in message ? message.to : [])));
  return waits(snapshot).flatMap(({ kind, workflowId: child, address, openedAt = 0 }) =>
    kind === "child" && child !== undefined && !written.has(child) && now - openedAt > graceMs ? [{ workflowId, address, child }] : [],
  );
}

function sentenceOf(workflowId: string, address: string, child: string, state: string): string {
  const id = shellQuote(workflowId);
  return `waits at ${printable(address)} for ${printable(child, 255)}, which ${state}; stepfold cancel ${id} and then stepfold restart ${id} let it go on`;
}
