import type { Limits } from "../../core/values/limits.ts";
import type { StepRequest } from "../node/asking.ts";
import type { NodeDefinitions } from "../node/node-definition.ts";
import type { PreparedNode } from "../workflow/prepared-node.ts";
import { CodeRuns, type CodeRunsHost } from "./code-runs.ts";
import { prepareStep } from "./prepare-step.ts";

/** What a turn needs to run code. The node types that `defineDurable` makes bring it, so that who writes no code does not load it. */
export interface CodeEngine {
  /** Makes the runs of code of one turn. */
  runs(host: CodeRunsHost): CodeRuns;
  /** Returns what performs a step that code asks for. @throws StepfoldError `OPTION_INVALID`, `NODE_TYPE_UNKNOWN`, `VALUE_NOT_JSON`, ... */
  prepareStep(request: StepRequest, nodeDefinitions: NodeDefinitions, limits: Limits): PreparedNode;
}

export const codeEngine: CodeEngine = { runs: (host) => new CodeRuns(host), prepareStep };
