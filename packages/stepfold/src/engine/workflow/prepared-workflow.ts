import { compile, compileToJudge, type Judged } from "../../core/definition/compile/compile.ts";
import { boundedLanguage } from "../../core/definition/compile/compile-bounds.ts";
import type { CompiledNode, CompiledWorkflow } from "../../core/definition/compiled.ts";
import { DefinitionReport } from "../../core/definition/definition-report.ts";
import type { Issue } from "../../core/errors/issue.ts";
import { safeMember } from "../../core/errors/safe-member.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { defaultLimits, type Limits } from "../../core/values/limits.ts";
import { expressionLanguage, storedExpressionLanguage } from "../../expressions/expression-language.ts";
import type { NodeDefinition, NodeDefinitions } from "../node/node-definition.ts";
import { CheckBudget } from "../schema/check-run.ts";
import { checkSchemas } from "./check-schemas.ts";
import { detachedName, type Library, libraryOf, linkWorkflows } from "./link-workflows.ts";
import { lintSettings, lintWays } from "./lint-node.ts";
import { definitionOf, type PreparedNode, prepareNode } from "./prepared-node.ts";
import type { Validated } from "./validator.ts";

/** A workflow with the code of its nodes: all that is needed to run it. */
export interface PreparedWorkflow {
  readonly compiled: CompiledWorkflow;
  /** The nodes of the workflow and of the workflows inside it, and their compensations. Nodes of missing types are left out. */
  readonly nodes: ReadonlyMap<CompiledNode, PreparedNode>;
  /** The node definitions of this process, for steps that code asks for by the name of a type. */
  readonly nodeDefinitions: NodeDefinitions;
  /** Node types whose code is missing in this process. */
  readonly missingTypes: readonly string[];
  /**
   * Why this process cannot perform its executions: node types without code, constant data that the code here does not take, and detached
   * workflows that are named and not known here. Executions accept commands anyway, because these need no code.
   */
  readonly lacking: readonly Issue[];
  readonly warnings: readonly Issue[];
}

/** How a workflow is prepared. */
interface Preparing {
  /** True if a node type without code is accepted, and nothing of its nodes is checked; false if it is a mistake. */
  readonly withoutCode: boolean;
}

const noLibrary: Library = () => undefined;

/**
 * Compiles a workflow and finds the code of every node.
 *
 * @throws StepfoldError `DEFINITION_INVALID` with every mistake at once: of the definition, unknown types, constant
 * data that the type does not allow
 */
export function prepareWorkflow(
  definition: unknown,
  nodeDefinitions: NodeDefinitions,
  limits: Limits = defaultLimits,
  library: Library = noLibrary,
  preparing: Preparing = { withoutCode: false },
): PreparedWorkflow {
  const judged = compiledWith(linkWorkflows(definition, library), nodeDefinitions, limits, preparing);
  const report = new DefinitionReport(limits);
  checkSchemas(judged.compiled.definition, nodeDefinitions, report);
  report.addAll(judged.compiled.warnings);
  report.settle(judged.isPartial);
  const lacking = new DefinitionReport(limits);
  const types = preparing.withoutCode ? lacking : report;
  const found = prepareNodes(judged.compiled, { nodeDefinitions, library, reports: { types, nodes: report, detached: lacking } });
  const { issues: warnings } = report;
  if (report.hasErrors) throw new StepfoldError("DEFINITION_INVALID", { workflow: judged.compiled.definition.id, issues: warnings });
  return { compiled: judged.compiled, ...found, nodeDefinitions, lacking: lacking.issues, warnings };
}

/**
 * Does the same as `prepareWorkflow` for the stored definition of executions. The definition was accepted before, so the limits of
 * definitions and its schemas are not checked again, and its expressions keep the meaning that earlier versions gave them. What the code of
 * this process does not take is no mistake of the definition: it is `lacking`.
 *
 * @throws StepfoldError `DEFINITION_INVALID` if this version cannot read it
 */
export function prepareStored(
  definition: unknown,
  nodeDefinitions: NodeDefinitions,
  limits: Limits,
  library: Library = noLibrary,
): PreparedWorkflow {
  const compiled = compile(definition, storedExpressionLanguage, limits, { isStored: true });
  const report = new DefinitionReport(limits);
  const found = prepareNodes(compiled, { nodeDefinitions, library, reports: { types: report, nodes: report, detached: report } });
  const lacking = report.issues.filter(({ severity }) => severity === "error");
  return { compiled, ...found, nodeDefinitions, lacking, warnings: compiled.warnings };
}

/** Where issues are reported. */
interface NodeReports {
  /** Of types without code. */
  readonly types: DefinitionReport;
  /** Of nodes whose types have code. */
  readonly nodes: DefinitionReport;
  /** Of detached workflows that are not known. */
  readonly detached: DefinitionReport;
}

/** Prepares the nodes of a workflow and of the workflows in it. */
function prepareNodes(
  compiled: CompiledWorkflow,
  { nodeDefinitions, library, reports }: { nodeDefinitions: NodeDefinitions; library: Library; reports: NodeReports },
): Pick<PreparedWorkflow, "nodes" | "missingTypes"> {
  const nodes = new Map<CompiledNode, PreparedNode>();
  const missing = new Set<string>();
  const find = ({ node }: CompiledNode, pointer: string): NodeDefinition | undefined => {
    const detached = detachedName(node);
    if (detached !== null && library(detached) === undefined)
      reports.detached.add("WORKFLOW_UNKNOWN", `${pointer}/data/workflow`, `this process has no workflow "${detached}"`);
    const found = definitionOf(nodeDefinitions, node.type);
    if (found) return found;
    missing.add(node.type);
    reportUnknown(node.type, `${pointer}/type`, nodeDefinitions, reports.types);
    return undefined;
  };
  addNodes(compiled, "", nodes, reports.nodes, find);
  return { nodes, missingTypes: [...missing] };
}

/**
 * @param at JSON pointer to the workflow
 * @param find returns the code of a node, and reports what this process lacks for it
 */
function addNodes(
  compiled: CompiledWorkflow,
  at: string,
  nodes: Map<CompiledNode, PreparedNode>,
  report: DefinitionReport,
  find: (node: CompiledNode, pointer: string) => NodeDefinition | undefined,
): void {
  const { compileTemplate: templates } = boundedLanguage(expressionLanguage, compiled.limits, report);
  const prepare = (node: CompiledNode, pointer: string): PreparedNode | null => {
    const nodeDefinition = find(node, pointer);
    if (!nodeDefinition) return null;
    const isCode = node === compiled.nodes.get(compiled.starts[0] ?? "") && compiled.code;
    if (isCode !== (nodeDefinition["~code"] !== undefined)) reportMisplaced(node.node.type, `${pointer}/type`, isCode, report);
    const prepared = prepareNode(node, nodeDefinition, templates, report);
    nodes.set(node, prepared);
    checkData(prepared, `${pointer}/data`, compiled.limits, report);
    lintSettings(prepared, pointer, report);
    return prepared;
  };
  compiled.definition.nodes.forEach(({ id }, i) => {
    const node = compiled.nodes.get(id)!;
    const prepared = prepare(node, `${at}/nodes/${i}`);
    if (prepared) lintWays(prepared, `${at}/nodes/${i}`, report);
    if (node.compensation) prepare(node.compensation, `${at}/nodes/${i}/compensate`);
  });
  for (const name of Object.keys(compiled.definition.workflows ?? {}))
    addNodes(compiled.workflows.get(name)!, `${at}/workflows/${name}`, nodes, report, find);
}

/** Compiles a workflow. If too little of it can be checked, unknown node types are reported together with its mistakes. */
function compiledWith(definition: unknown, nodeDefinitions: NodeDefinitions, limits: Limits, { withoutCode }: Preparing): Judged {
  try {
    return compileToJudge(definition, expressionLanguage, limits);
  } catch (error) {
    if (!StepfoldError.is(error, "DEFINITION_INVALID")) throw error;
    const nodes = safeMember(definition, "nodes");
    const report = new DefinitionReport(limits);
    report.addAll(error.details.issues);
    for (const [i, node] of (Array.isArray(nodes) ? nodes : []).slice(0, limits.nodes).entries()) {
      const type = safeMember(node, "type");
      if (!withoutCode && typeof type === "string" && !definitionOf(nodeDefinitions, type))
        reportUnknown(type, `/nodes/${i}/type`, nodeDefinitions, report);
    }
    throw new StepfoldError("DEFINITION_INVALID", { workflow: error.details.workflow, issues: report.issues });
  }
}

/** Every error and warning about a workflow and the types of its nodes, as data; empty if there is none. */
export function checkWorkflow(
  definition: unknown,
  nodeDefinitions: NodeDefinitions,
  limits?: Limits,
  workflows: readonly unknown[] = [],
): readonly Issue[] {
  try {
    return prepareWorkflow(definition, nodeDefinitions, limits, libraryOf(workflows)).warnings;
  } catch (error) {
    if (StepfoldError.is(error, "DEFINITION_INVALID")) return error.details.issues;
    throw error;
  }
}

function reportUnknown(type: string, pointer: string, nodeDefinitions: NodeDefinitions, report: DefinitionReport): void {
  report.add(
    "NODE_TYPE_UNKNOWN",
    pointer,
    `no node definition is called "${type}"${report.suggestionOrList(type, Object.keys(nodeDefinitions))}`,
  );
}

/** Reports a node type that is the code of a workflow, in a graph; or a workflow with code whose type is no code. */
function reportMisplaced(type: string, pointer: string, isCode: boolean, report: DefinitionReport): void {
  const what = isCode
    ? `"${type}" is no code: workflows with "code" are made by defineDurable`
    : `"${type}" is the code of a workflow: use a node of type "workflow" that names it`;
  report.add("NODE_TYPE_MISPLACED", pointer, what);
}

/** Checks data without expressions, which is known before the node runs. */
function checkData({ compiled, input }: PreparedNode, pointer: string, limits: Limits, report: DefinitionReport): void {
  if (compiled.data || !input) return;
  let result: Validated | Promise<Validated>;
  try {
    result = input(compiled.node.data ?? null, new CheckBudget(limits));
  } catch (error) {
    report.add("DATA_INVALID", pointer, `cannot be checked: ${(error as Error).message}`);
    return;
  }
  if (result instanceof Promise) {
    // an asynchronous schema is checked when the node runs
    result.catch(() => undefined);
    return;
  }
  for (const { pointer: inside, message } of result.issues ?? []) report.add("DATA_INVALID", pointer + inside, message);
}
