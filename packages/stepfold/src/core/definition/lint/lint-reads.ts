import type { WorkBudget } from "../../values/work-budget.ts";
import type { DefinitionReport } from "../definition-report.ts";
import type { CompileTemplate, NodeNames, ReadPath } from "../template.ts";

/** What a template of a definition reads, and the pointer to the template. */
export interface TemplateUse {
  readonly pointer: string;
  readonly reads: readonly ReadPath[];
}

/** The roots whose members are named by ids of nodes, as in `nodes.ID`. */
const roots: readonly (string | undefined)[] = ["nodes", "paths"];

/** Returns a `compileTemplate` that knows these names of nodes and records in `uses` what every template reads. */
export function recordingReads(compileTemplate: CompileTemplate, names: NodeNames, uses: TemplateUse[]): CompileTemplate {
  return (value, pointer) => {
    const compiled = compileTemplate(value, pointer, names);
    if (compiled.template) uses.push({ pointer, reads: compiled.template.reads });
    return compiled;
  };
}

/** What the expressions of a workflow may read, by name. */
interface Readable {
  readonly nodes: ReadonlyMap<string, unknown>;
  /** Variables that are declared, or that a node of type `set` sets, in this workflow or in those around it. */
  readonly variables: ReadonlySet<string>;
}

/**
 * Warns about expressions that read a node that does not exist, which never gives a value, or a variable that is not known. Executors may
 * set any variable, so an unknown one can still have a value.
 */
export function lintReads(uses: readonly TemplateUse[], { nodes, variables }: Readable, report: DefinitionReport, work: WorkBudget): void {
  for (const { pointer, reads } of uses) {
    const warned = new Set<string>();
    work.spend(reads.length);
    for (const [root, id] of reads) {
      const isVariable = root === "vars";
      const known = isVariable ? variables : nodes;
      const name = `${isVariable} ${id}`;
      if (!(isVariable || roots.includes(root)) || id === undefined || id === "*" || known.has(id) || warned.has(name)) continue;
      warned.add(name);
      if (isVariable) {
        const meant = report.suggestion(id, variables);
        report.warn("VARIABLE_UNKNOWN", pointer, `reads vars.${id}, which is not declared, and no node "set" sets it${meant}`);
        continue;
      }
      report.warn("NODE_UNKNOWN", pointer, `reads ${root}.${id}, and there is no node "${id}"${report.suggestion(id, nodes.keys())}`);
    }
  }
}
