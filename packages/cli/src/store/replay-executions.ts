import type { WorkflowDefinition } from "stepfold";
import { type ReplayCheckOptions, type ReplayDifference, replayCheck } from "stepfold/testing";
import type { Store } from "./database.ts";

const pageSize = 100;

/** What came of the replay of one execution. */
interface ReplayedExecution {
  readonly workflowId: string;
  readonly definitionId: string;
  /** Null: the code fits. */
  readonly difference: ReplayDifference | null;
}

/** Replays the open executions of a store one after the other, and writes nothing. @param definitionId only those of this workflow */
export async function* replayExecutions(
  store: Store,
  code: ReplayCheckOptions,
  definitionId: string | undefined,
): AsyncGenerator<ReplayedExecution, void, void> {
  const replay = replayCheck(code);
  const definitions = new Map<string, WorkflowDefinition | null>();
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<Store["list"]>> = await store.list({
      status: ["active", "paused", "error", "parked"],
      limit: pageSize,
      ...(definitionId !== undefined && { definitionId }),
      ...(cursor !== null && { cursor }),
    });
    for (const { workflowId } of page.items) {
      const snapshot = await store.load(workflowId);
      if (!snapshot) continue;
      const { id, hash } = snapshot.definition;
      const definition = definitions.get(hash) ?? (await store.getDefinition(hash));
      definitions.set(hash, definition);
      // an execution without its definition is a matter of `stepfold doctor`
      if (definition) yield { workflowId, definitionId: id, difference: await replay.check(snapshot, definition) };
    }
    cursor = page.nextCursor;
  } while (cursor !== null);
}
