import { openScopes } from "../core/snapshot/address.ts";
import type { Snapshot } from "../core/snapshot/snapshot.ts";
import { codePathOf } from "../core/transition/code/code-path.ts";
import type { Draft, ScopeDraft } from "../core/transition/draft/draft.ts";
import { openDraft, scopeAt } from "../core/transition/draft/open-draft.ts";
import { taskOf } from "../core/transition/plan.ts";
import { nextMacrotask } from "../environment/system-environment.ts";
import type { AttemptContext } from "./attempt/attempt-state.ts";
import { perform } from "./attempt/perform.ts";
import { CodeRun, loopsToRest } from "./code/code-run.ts";
import { prepareStep } from "./code/prepare-step.ts";
import { attemptContext } from "./open-turn.ts";
import type { TurnSetting } from "./setting.ts";
import type { AttemptRequest } from "./turn-options.ts";
import type { PreparedWorkflow } from "./workflow/prepared-workflow.ts";

/**
 * Runs the code of every open scope of an execution from what is remembered, and performs no step. The code must ask for the same steps as before, and
 * for all of them, before it waits or ends.
 *
 * @returns how the code differs; null if it does not, and if the execution has no open code
 */
export async function replayCode(
  workflow: PreparedWorkflow,
  snapshot: Snapshot,
  setting: TurnSetting,
  request: AttemptRequest,
): Promise<string | null> {
  if (!workflow.compiled.runsCode) return null;
  const draft = openDraft(workflow.compiled, snapshot);
  if (draft.ended) return null;
  const { performing } = attemptContext(draft, { ...setting, plugins: [], logger: null, intercept: null }, request);
  for (const [key] of openScopes(snapshot)) {
    const scope = scopeAt(draft, key);
    const difference = scope?.workflow.code ? await replayScope(workflow, draft, scope, performing) : null;
    if (difference !== null) return difference;
  }
  return null;
}

async function replayScope(
  workflow: PreparedWorkflow,
  draft: Draft,
  scope: ScopeDraft,
  performing: AttemptContext,
): Promise<string | null> {
  const path = codePathOf(scope);
  const node = path && workflow.nodes.get(path.node);
  if (!path || !node) return null;
  // code of which nothing is known yet has nothing to fit
  if (scope.paths.length === 1 && Object.keys(scope.context).length === 0) return null;
  let changed: string | null = null;
  const run = new CodeRun(scope, {
    draft: () => draft,
    prepare: (step) => prepareStep(step, workflow.nodeDefinitions, performing.limits),
    deadlines: performing.deadlines,
    silentMs: performing.stepTimeoutMs,
    asked: () => undefined,
    delivered: () => undefined,
    changed: (_, message) => {
      changed ??= message;
    },
    late: () => undefined,
  });
  const context = { ...performing, asking: run, stepTimeoutMs: Number.POSITIVE_INFINITY };
  const attempt = perform(taskOf(path, scope.key), node, scope, context, performing.now(), () => undefined);
  await untilQuiet(run, () => changed !== null);
  const difference = changed ?? (run.hasEnded ? run.mistakeAtEnd() : run.mistakeAtRest());
  run.leave();
  attempt.abort(new DOMException("The code was only compared", "AbortError"));
  return difference;
}

/** Resolves once the code has ended, or has not gone on while the event loop has turned. */
async function untilQuiet(run: CodeRun, isOver: () => boolean): Promise<void> {
  for (let turns = 0, { stamp } = run; turns < loopsToRest && !run.hasEnded && !isOver(); turns++) {
    await nextMacrotask();
    if (run.stamp !== stamp || run.isReading) turns = -1;
    stamp = run.stamp;
  }
}
