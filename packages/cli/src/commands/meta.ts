import { StepfoldError } from "stepfold";
import { createRuntime } from "stepfold/runtime";
import { readMetadata } from "../arguments/read-metadata.ts";
import { exitCode } from "../exit-code.ts";
import { say } from "../output.ts";
import { chooseDatabase, openExistingDatabase } from "../store/database.ts";
import { printable } from "../text/printable.ts";

/** Options of `stepfold meta`. */
export interface MetaOptions {
  readonly idempotencyKey?: string;
  readonly store?: string;
  readonly json?: boolean;
}

/** `stepfold meta ID KEY=VALUE ...`: changes the metadata of an execution, and runs no steps. @returns the exit code */
export async function meta(workflowId: string, members: readonly string[], options: MetaOptions): Promise<number> {
  const patch = Object.fromEntries(members.map((text) => readMetadata(text, "KEY=VALUE")));
  const database = chooseDatabase(options.store);
  const store = await openExistingDatabase(database);
  const runtime = createRuntime({ store, drive: false });
  try {
    const { applied } = await (await runtime.get(workflowId)).setMetadata(patch, { idempotencyKey: options.idempotencyKey });
    const head = await store.loadHead(workflowId);
    if (!head) throw new StepfoldError("WORKFLOW_NOT_FOUND", { workflowId });
    const { metadata } = head;
    say(
      options.json
        ? `${JSON.stringify({ type: "metadata", workflowId, applied, metadata })}\n`
        : `${applied ? "Set" : "This was set before"}: ${printable(JSON.stringify(metadata), 1_000)}\n`,
    );
  } finally {
    await runtime.close();
    await store.close();
  }
  return exitCode.done;
}
