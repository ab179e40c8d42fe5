import type { CompiledNode } from "../../core/definition/compiled.ts";
import { DefinitionReport } from "../../core/definition/definition-report.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { defaultLimits } from "../../core/values/limits.ts";
import { expressionLanguage } from "../../expressions/expression-language.ts";
import type { NodeDefinition, NodeDefinitions } from "../node/node-definition.ts";
import { definitionOf, type PreparedNode, prepareNode } from "./prepared-node.ts";

/** Returns what performs a step that undoes one that code has asked for. If there is no code of its type, the step fails. */
export function prepareUndo(compiled: CompiledNode, nodeDefinitions: NodeDefinitions): PreparedNode {
  const { id: nodeId, type } = compiled.node;
  return preparedAlone(compiled, definitionOf(nodeDefinitions, type) ?? missing(nodeId, type, nodeDefinitions));
}

function missing(nodeId: string, type: string, known: NodeDefinitions): NodeDefinition {
  return {
    executor() {
      throw new StepfoldError("NODE_TYPE_UNKNOWN", { nodeId, type, known: Object.keys(known) });
    },
  };
}

/** Prepares a node that is in no definition. @throws StepfoldError `OPTION_INVALID` */
export function preparedAlone(compiled: CompiledNode, definition: NodeDefinition): PreparedNode {
  const report = new DefinitionReport(defaultLimits);
  const node = prepareNode(compiled, definition, expressionLanguage.compileTemplate, report);
  const mistake = report.issues.find(({ severity }) => severity === "error");
  if (mistake) throw new StepfoldError("OPTION_INVALID", { option: mistake.pointer, reason: mistake.message });
  return node;
}
