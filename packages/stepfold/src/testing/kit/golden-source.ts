import type { WaitInfo } from "../../core/explain/waits.ts";
import type { Event } from "../../core/snapshot/event.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import type { PreparedWorkflow } from "../../engine/workflow/prepared-workflow.ts";

/** What of a test goes into its golden file, and what opens the file again. */
export interface GoldenSource {
  readonly snapshot: Snapshot;
  readonly events: readonly Event[];
  readonly way: readonly string[];
  readonly waits: readonly WaitInfo[];
  /** The workflow that the execution follows. */
  readonly prepared: PreparedWorkflow;
  /** Prepares the stored definition of a golden file with the code of the test. @throws StepfoldError `DEFINITION_INVALID` */
  readonly prepare: (definition: unknown) => PreparedWorkflow;
  /** Replays code. Null: it fits. */
  readonly replay: (workflow: PreparedWorkflow, snapshot: Snapshot) => Promise<string | null>;
}

const sources = new WeakMap<object, () => GoldenSource>();

/** Lets a test be compared with a golden file. */
export function offerGolden(run: object, source: () => GoldenSource): void {
  sources.set(run, source);
}

/** Returns what of a test goes into its golden file; null if it is no test. */
export function goldenSourceOf(run: object): GoldenSource | null {
  return sources.get(run)?.() ?? null;
}
