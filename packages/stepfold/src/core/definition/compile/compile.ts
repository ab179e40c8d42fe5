import type { Issue } from "../../errors/issue.ts";
import { safeMember } from "../../errors/safe-member.ts";
import { StepfoldError } from "../../errors/stepfold-error.ts";
import { durationMs } from "../../values/duration.ts";
import { isJsonObject, type Json } from "../../values/json.ts";
import { defaultLimits, type Limits } from "../../values/limits.ts";
import { plainJson } from "../../values/to-json.ts";
import { WorkBudget } from "../../values/work-budget.ts";
import { CodeNodes } from "../code-nodes.ts";
import type { CompiledEdge, CompiledVariable, CompiledWorkflow, Reducer } from "../compiled.ts";
import { compileDuration } from "../compiled-policy.ts";
import type { Edge, WorkflowDefinition } from "../definition.ts";
import { definitionHash } from "../definition-hash.ts";
import { DefinitionReport } from "../definition-report.ts";
import { lintGraph } from "../lint/lint-graph.ts";
import { lintInputs } from "../lint/lint-inputs.ts";
import { lintLeavings } from "../lint/lint-leavings.ts";
import { lintReads, recordingReads, type TemplateUse } from "../lint/lint-reads.ts";
import { NamedWorkflows } from "../named-workflows.ts";
import { namesSet } from "../needs.ts";
import { reachedFrom } from "../reached-from.ts";
import type { ExpressionLanguage, NodeNames, Template } from "../template.ts";
import { checkDefinition, notForInnerWorkflows } from "./check-definition.ts";
import { checkKeys } from "./check-keys.ts";
import {
  boundedLanguage,
  handedLimits,
  maxParts,
  maxStoredParts,
  maxStoredWork,
  maxWork,
  storedLimits,
  unlimitedParts,
} from "./compile-bounds.ts";
import { compileJoins, type OpenNode, type PlacedEdge } from "./compile-joins.ts";
import { compileNode } from "./compile-node.ts";
import { repaired } from "./repaired.ts";

/** Options of `compile`. */
export interface CompileOptions {
  /**
   * True if the definition was accepted before and executions depend on it. Then the limits of definitions, except `depth`, are not
   * checked, because they may have become lower since, and unknown keys are not reported. Default false.
   */
  readonly isStored?: boolean | undefined;
}

/**
 * Checks a definition and makes it ready to run.
 *
 * @param definition an untrusted value; the function works on a copy
 * @param language the language of the `{{ }}`: `expressionLanguage` of `stepfold/expressions`
 * @throws StepfoldError `DEFINITION_INVALID` with all mistakes at once, each with a code, a JSON pointer and a message; more than the limit
 * `issues` are not listed
 *
 * ```ts
 * const workflow = compile({ id: "hello", nodes: [{ id: "greet", type: "noop" }], edges: [] }, expressionLanguage);
 * workflow.starts; // ["greet"]
 * ```
 */
export function compile(
  definition: unknown,
  language: ExpressionLanguage,
  limits: Limits = defaultLimits,
  options: CompileOptions = {},
): CompiledWorkflow {
  const { built, issues } = build(definition, language, limits, options, new WorkBudget(options.isStored ? maxStoredWork : maxWork));
  if (!built || issues.some(isError)) throw new StepfoldError("DEFINITION_INVALID", { workflow: nameOf(definition), issues });
  return built;
}

/** A workflow that may have errors. If it is partial, parts were left out, and what is odd about the others may follow from that. */
export interface Judged {
  readonly compiled: CompiledWorkflow;
  readonly isPartial: boolean;
}

/**
 * Does the same as `compile`, but also returns a workflow with errors, without the parts that they are about. The caller knows the node types
 * and can then report the mistakes in the other parts together with these. All issues are in `warnings` of the result. The result must
 * not be run.
 *
 * @throws StepfoldError `DEFINITION_INVALID` if too little is left
 */
export function compileToJudge(definition: unknown, language: ExpressionLanguage, limits: Limits): Judged {
  const { built, issues, isPartial } = build(definition, language, limits, {}, new WorkBudget(maxWork));
  if (built) return { compiled: built, isPartial };
  throw new StepfoldError("DEFINITION_INVALID", { workflow: nameOf(definition), issues });
}

/** Returns all errors and warnings about a definition; an empty list if there are none. */
export function check(definition: unknown, language: ExpressionLanguage, limits: Limits = defaultLimits): readonly Issue[] {
  return checkCounted(definition, language, limits, new WorkBudget(maxWork));
}

/** Does the same as `check`, and takes the work from the given budget. */
export function checkCounted(definition: unknown, language: ExpressionLanguage, limits: Limits, work: WorkBudget): readonly Issue[] {
  return build(definition, language, limits, {}, work).issues;
}

/** What all parts of one compilation share. */
interface Building {
  readonly language: ExpressionLanguage;
  readonly limits: Limits;
  readonly report: DefinitionReport;
  readonly work: WorkBudget;
  /** Names of the variables that are known, in the workflow or in the workflows around it: declared, or set by a node of type `set`. */
  readonly variables: ReadonlySet<string>;
}

function build(
  definition: unknown,
  language: ExpressionLanguage,
  limits: Limits,
  { isStored = false }: CompileOptions,
  work: WorkBudget,
): { built: CompiledWorkflow | null; issues: readonly Issue[]; isPartial: boolean } {
  let plain: unknown;
  try {
    plain = plainJson(definition, "The definition", isStored ? storedLimits(limits) : handedLimits(limits)).value;
  } catch (error) {
    const { pointer = "" } = (error as StepfoldError<"VALUE_NOT_JSON" | "LIMIT_EXCEEDED">).details;
    // `valueBytes` was set to the limit of a definition, so the message names `definitionBytes`
    const message = (error as Error).message.replace('"valueBytes"', '"definitionBytes"');
    return { built: null, issues: [{ severity: "error", code: "NOT_JSON", pointer, message }], isPartial: false };
  }
  const report = new DefinitionReport(limits, work);
  checkDefinition(plain, isStored ? { ...limits, ...unlimitedParts } : limits, report);
  const misshapen = report.issues.filter(isError);
  if (!isStored) checkKeys(plain, report);
  const whole = report.errorCount > limits.issues ? null : misshapen.length === 0 ? plain : repaired(plain as Json, misshapen);
  const isPartial = misshapen.length > 0;
  if (whole === null) return { built: null, issues: report.issues, isPartial };
  if (isPartial) report.settle(isPartial);
  const reading = new WorkBudget(isStored ? maxStoredParts : maxParts);
  const bounded = boundedLanguage(language, limits, report, reading);
  const built = buildWorkflow(whole as WorkflowDefinition, "", { language: bounded, limits, report, work, variables: new Set() });
  if (reading.isSpent)
    report.add(
      "TOO_MANY",
      "",
      `the expressions have more than ${maxParts} parts in all: move some of the work into code or other workflows`,
    );
  share(built, null);
  checkNames(built, "", report);
  return { built, issues: report.issues, isPartial };
}

/** A workflow that is not linked to the workflows around it yet. */
type Unshared = Omit<CompiledWorkflow, "workflows" | "compensates"> & {
  readonly workflows: NamedWorkflows;
  compensates: boolean;
};

function namesOf({ nodes }: WorkflowDefinition): NodeNames {
  return new Map(nodes.flatMap(({ id, name }): [string, string][] => (name === undefined ? [] : [[name, id]])));
}

function buildWorkflow(definition: WorkflowDefinition, pointer: string, building: Building): Unshared {
  const { language, limits, report, work } = building;
  work.spend(definition.nodes.length + definition.edges.length);
  const uses: TemplateUse[] = [];
  const variables = new Set([...building.variables, ...Object.keys(definition.variables ?? {}), ...definition.nodes.flatMap(namesSet)]);
  const own: Building = {
    ...building,
    variables,
    language: { ...language, compileTemplate: recordingReads(language.compileTemplate, namesOf(definition), uses) },
  };
  const { nodes, placed } = buildNodes(definition, pointer, own);
  // an edge from a node to itself does not count: such a node may still be the first one
  const entered = new Set(definition.edges.filter(({ source, target }) => source !== target).map(({ target }) => target));
  const last = definition.finally;
  const free = definition.nodes.map(({ id }) => id).filter((id) => !entered.has(id) && id !== last);
  const starts = definition.start === undefined ? free : [definition.start];
  const firsts = last === undefined ? starts : [...starts, last];
  const joins = compileJoins([...nodes.values()], placed, firsts, work);
  if (!joins)
    report.add("TOO_MANY", `${pointer}/edges`, "there are too many joins and edges to check: split the workflow into sub-workflows");
  lintGraph(definition, nodes, firsts, pointer, report, work);
  lintLeavings(definition, nodes, pointer, report, work);
  if (last !== undefined) checkLast(nodes, starts, last, report);
  const inner = Object.entries(definition.workflows ?? {}).map(
    ([name, workflow]) => [name, buildWorkflow(workflow, `${pointer}/workflows/${name}`, { ...building, variables })] as const,
  );
  const output = definition.output === undefined ? null : templateOf(definition.output, `${pointer}/output`, own);
  lintReads(uses, { nodes, variables }, report, work);
  lintInputs(definition, uses, report, work);
  if (pointer === "") lintStarts(starts, report);
  return {
    definition,
    hash: definitionHash(definition),
    nodes: definition.code === undefined ? nodes : new CodeNodes(nodes),
    code: definition.code !== undefined,
    runsCode: definition.code !== undefined || inner.some(([, { runsCode }]) => runsCode),
    starts,
    finally: last === undefined ? null : nodes.get(last)!,
    output,
    variables: variablesOf(definition, pointer, building),
    timeoutMs:
      definition.timeout === undefined ? null : compileDuration(definition.timeout, `${pointer}/timeout`, language.compileTemplate, report),
    concurrency: concurrencyOf(definition, pointer, building),
    rateLimit: rateLimitOf(definition, pointer, building),
    joins: joins ?? [],
    holds: definition.nodes.some(({ mutex, when }) => mutex !== undefined || when !== undefined),
    compensates:
      definition.code === "undo" ||
      definition.nodes.some(({ compensate }) => compensate) ||
      inner.some(([, { compensates }]) => compensates),
    workflows: new NamedWorkflows(inner),
    warnings: report.issues,
    language,
    limits,
  };
}

/** Warns about a workflow that can only be started with the name of its first node. */
function lintStarts(starts: readonly string[], report: DefinitionReport): void {
  if (starts.length === 1) return;
  const found =
    starts.length === 0 ? "no first node: an edge leads to every node" : `${starts.length} first nodes (${starts.slice(0, 20).join(", ")})`;
  report.warn("START_UNKNOWN", "/nodes", `has ${found}. Set "start", or give "initialNodeId" at each start`);
}

/** Checks the nodes that run at the end: no first node leads to them, and none of them has a `compensate`. */
function checkLast(nodes: ReadonlyMap<string, OpenNode>, starts: readonly string[], last: string, report: DefinitionReport): void {
  const before = reachedFrom(starts.map((id) => nodes.get(id)!));
  for (const id of reachedFrom([nodes.get(last)!])) {
    const { index, compensation } = nodes.get(id)!;
    const at = `/nodes/${index}`;
    if (before.has(id))
      report.add("FINALLY_INVALID", at, `"${id}" can be reached from a first node, and also from "${last}", which "finally" names`);
    if (compensation) report.add("FINALLY_INVALID", `${at}/compensate`, `"${id}" runs at the end, and is never undone`);
  }
}

/** Makes a workflow, and those around it, known by name to its nodes, and sets `compensates`; then does the same for those inside it. */
function share(workflow: Unshared, around: Unshared | null): void {
  const { workflows, definition } = workflow;
  const own = [...workflows.own()] as Unshared[];
  workflows.link(definition.id, workflow, around?.workflows ?? null);
  workflow.compensates ||= around?.compensates ?? false;
  for (const inner of own) share(inner, workflow);
}

/**
 * Checks that `map` and `workflow` nodes name a workflow that exists, has one first node and has no `finally`. Names with expressions, and
 * detached executions, are checked only when the step runs.
 */
function checkNames({ definition, workflows }: CompiledWorkflow, at: string, report: DefinitionReport): void {
  for (const [i, { type, data }] of definition.nodes.entries()) {
    if ((type !== "map" && type !== "workflow") || !isJsonObject(data) || data.detached === true) continue;
    const { workflow: name } = data;
    if (typeof name !== "string" || name.includes("{{")) continue;
    const pointer = `${at}/nodes/${i}/data/workflow`;
    const starts = workflows.get(name)?.starts.length;
    if (starts === undefined)
      report.add("WORKFLOW_UNKNOWN", pointer, `there is no workflow "${name}"${report.suggestionOrList(name, workflows.keys())}`);
    else if (workflows.get(name)!.finally)
      report.add("FINALLY_INVALID", pointer, `"${name}" has "finally", which ${notForInnerWorkflows}: run it with "detached"`);
    else if (starts !== 1) report.add("START_UNKNOWN", pointer, `"${name}" has ${starts} first nodes: set its "start"`);
  }
  for (const name of Object.keys(definition.workflows ?? {})) checkNames(workflows.get(name)!, `${at}/workflows/${name}`, report);
}

function templateOf(value: Json, pointer: string, { language, report }: Building): Template | null {
  const { template, issues: found } = language.compileTemplate(value, pointer);
  report.addAll(found);
  // a value without expressions becomes a template that reads nothing
  return template ?? (found.length === 0 ? { reads: [], evaluate: () => value } : null);
}

function variablesOf({ variables = {} }: WorkflowDefinition, pointer: string, building: Building): CompiledWorkflow["variables"] {
  const compiled = new Map<string, CompiledVariable>();
  for (const [name, { initial, reducer = "set" }] of Object.entries(variables)) {
    const at = `${pointer}/variables/${name}/reducer`;
    const template = reducer.includes("{{") ? templateOf(reducer, at, building) : null;
    const other = template?.reads.find(([root]) => root !== "current" && root !== "value");
    if (other) building.report.add("EXPRESSION_INVALID", at, `reads ${other[0]}, and a reducer sees nothing but current and value`);
    compiled.set(name, { initial, reducer: template ?? (reducer as Reducer) });
  }
  return compiled;
}

function concurrencyOf({ concurrency }: WorkflowDefinition, pointer: string, building: Building): CompiledWorkflow["concurrency"] {
  if (!concurrency) return null;
  const key = templateOf(concurrency.key, `${pointer}/concurrency/key`, building);
  return key && { key, limit: concurrency.limit ?? 1 };
}

function rateLimitOf({ rateLimit }: WorkflowDefinition, pointer: string, building: Building): CompiledWorkflow["rateLimit"] {
  if (!rateLimit) return null;
  const { limit, period, key } = rateLimit;
  return { limit, periodMs: durationMs(period), key: key === undefined ? null : templateOf(key, `${pointer}/rateLimit/key`, building) };
}

function buildNodes(
  { nodes, edges }: WorkflowDefinition,
  pointer: string,
  { language, report }: Building,
): { nodes: Map<string, OpenNode>; placed: PlacedEdge[] } {
  const built = new Map<string, OpenNode>();
  nodes.forEach((node, index) => {
    built.set(node.id, compileNode(node, index, `${pointer}/nodes/${index}`, language.compileTemplate, report));
  });
  const vias = new EdgeNames();
  const placed = edges.map((edge): PlacedEdge => {
    const source = built.get(edge.source)!;
    const from = source.edges as Map<string, CompiledEdge[]>;
    const handle = edge.sourceHandle ?? "";
    if (!from.has(handle)) from.set(handle, []);
    const compiled: CompiledEdge = { via: vias.nameOf(edge), target: built.get(edge.target)! };
    from.get(handle)!.push(compiled);
    return { source: source.index, edge: compiled };
  });
  return { nodes: built, placed };
}

/** Gives every edge a unique name. */
class EdgeNames {
  readonly #taken = new Set<string>();
  /** The last number that was added to make a name unique, by that name. */
  readonly #last = new Map<string, number>();

  nameOf({ id, source, target, sourceHandle }: Edge): string {
    const name = id ?? `${source}>${target}${sourceHandle ? `@${sourceHandle}` : ""}`;
    let via = name;
    let number = this.#last.get(name) ?? 1;
    while (this.#taken.has(via)) via = `${name}#${++number}`;
    this.#last.set(name, number);
    this.#taken.add(via);
    return via;
  }
}

function isError({ severity }: Issue): boolean {
  return severity === "error";
}

function nameOf(definition: unknown): string {
  const id = safeMember(definition, "id");
  return typeof id === "string" ? id.slice(0, 128) : "?";
}
