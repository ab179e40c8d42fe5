import type { WorkflowDefinition } from "../../core/definition/definition.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import { defaultLimits } from "../../core/values/limits.ts";
import { readStepTimeout } from "../../engine/limits.ts";
import type { NodeDefinitions } from "../../engine/node/node-definition.ts";
import { replayCode } from "../../engine/replay-code.ts";
import { Secrets } from "../../engine/secrets/secrets.ts";
import type { TurnSetting } from "../../engine/setting.ts";
import { libraryOf } from "../../engine/workflow/link-workflows.ts";
import { type PreparedWorkflow, prepareStored } from "../../engine/workflow/prepared-workflow.ts";
import { untyped } from "../../engine/workflow/typed-workflows.ts";
import { Deadlines, systemEnvironment } from "../../environment/system-environment.ts";

/** The code with which executions are replayed: that of a deployment, or of a test. */
export interface ReplayCheckOptions {
  /** The workflows of the deployment, as for `createRuntime`. */
  readonly workflows?: readonly unknown[] | undefined;
  /** The code of its nodes, as for `createRuntime`. */
  readonly nodeDefinitions?: NodeDefinitions | undefined;
  /** What the code of workflows gets as `globals`. */
  readonly globals?: unknown;
}

/** Why a deployment could not go on with an execution. */
export interface ReplayDifference {
  /** `CODE_CHANGED`: it would be parked. `DEFINITION_INVALID`: the deployment lacks code, and would leave it to other processes. */
  readonly code: "CODE_CHANGED" | "DEFINITION_INVALID";
  readonly message: string;
}

/** Compares executions with the code of a deployment. */
export interface ReplayCheck {
  /**
   * Runs the code of an execution from what it remembers, without performing a step or writing anything. Code between steps runs as in every replay.
   *
   * @param definition the definition that the execution is pinned to: `store.getDefinition(snapshot.definition.hash)`
   * @returns null if the deployment can go on with it
   */
  check(snapshot: Snapshot, definition: WorkflowDefinition): Promise<ReplayDifference | null>;
}

/**
 * Makes a check that says, before a deployment, which open executions it would park: it runs the code of workflows from what executions remember, and
 * compares what that asks for. `stepfold replay` does this for a whole store.
 *
 * ```ts
 * const replay = replayCheck({ workflows: [subscription], nodeDefinitions });
 * const snapshot = await store.load("sub-7");
 * const difference = await replay.check(snapshot, await store.getDefinition(snapshot.definition.hash));
 * if (difference) console.log(difference.message); // step 3 was "reserve" (completed, version 7), and the code now asks for "mail"
 * ```
 *
 * @throws StepfoldError `OPTION_INVALID` if two workflows bring different code for one node type
 */
export function replayCheck({ workflows: given = [], nodeDefinitions: own = {}, globals = {} }: ReplayCheckOptions): ReplayCheck {
  const { workflows, nodeDefinitions = {} } = untyped(given, own);
  const library = libraryOf(workflows);
  const prepared = new Map<string, PreparedWorkflow>();
  const replay = replayWith(globals);
  return {
    async check(snapshot, definition) {
      const { hash } = snapshot.definition;
      const workflow = prepared.get(hash) ?? prepareStored(definition, nodeDefinitions, defaultLimits, library);
      prepared.set(hash, workflow);
      const { lacking, compiled } = workflow;
      if (lacking.length > 0) {
        const { message } = new StepfoldError("DEFINITION_INVALID", { workflow: compiled.definition.id, issues: lacking });
        return { code: "DEFINITION_INVALID", message };
      }
      const difference = await replay(workflow, snapshot);
      return difference === null ? null : { code: "CODE_CHANGED", message: difference };
    },
  };
}

/** Returns a function that replays executions of prepared workflows. */
export function replayWith(globals: unknown): (workflow: PreparedWorkflow, snapshot: Snapshot) => Promise<string | null> {
  // nothing is performed, so no time passes
  const environment = { ...systemEnvironment, after: () => () => undefined };
  const setting: TurnSetting = {
    environment,
    deadlines: new Deadlines(environment),
    limits: defaultLimits,
    stepTimeoutMs: readStepTimeout(undefined),
    plugins: [],
    logger: null,
    keepStacks: false,
    workflowNamed: (workflow) => {
      throw new StepfoldError("DEFINITION_UNKNOWN", { workflow, known: [] });
    },
    may: null,
    intercept: null,
  };
  const request = { globals, secrets: new Secrets(globals, undefined) };
  return (workflow, snapshot) => replayCode(workflow, snapshot, setting, request);
}
