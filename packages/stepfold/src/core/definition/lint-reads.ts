import type { WorkBudget } from "../values/work-budget.ts";
import type { DefinitionReport } from "./definition-report.ts";
import type { CompileTemplate, NodeNames, ReadPath } from "./template.ts";

/** What an expression of a definition reads, and where it stands. */
export interface TemplateUse {
  readonly pointer: string;
  readonly reads: readonly ReadPath[];
}

/** What the ids of nodes are the members of. */
const roots: readonly (string | undefined)[] = ["nodes", "paths"];

/** As `compileTemplate` where nodes have these names, and notes what every template reads. */
export function noting(compileTemplate: CompileTemplate, names: NodeNames, uses: TemplateUse[]): CompileTemplate {
  return (value, pointer) => {
    const compiled = compileTemplate(value, pointer, names);
    if (compiled.template) uses.push({ pointer, reads: compiled.template.reads });
    return compiled;
  };
}

/** What the expressions of a workflow may read, by name. */
interface Readable {
  readonly nodes: ReadonlyMap<string, unknown>;
  /** Those that are declared, or that a node `set` sets. */
  readonly variables: ReadonlySet<string>;
}

/** Warns of expressions that read a variable, or the result or paths of a node, that is not there: they never give anything. */
export function lintReads(uses: readonly TemplateUse[], { nodes, variables }: Readable, report: DefinitionReport, work: WorkBudget): void {
  for (const { pointer, reads } of uses) {
    const told = new Set<string>();
    work.spend(reads.length);
    for (const [root, id] of reads) {
      const isVariable = root === "vars";
      const known = isVariable ? variables : nodes;
      const name = `${isVariable} ${id}`;
      if (!(isVariable || roots.includes(root)) || id === undefined || id === "*" || known.has(id) || told.has(name)) continue;
      told.add(name);
      if (isVariable) {
        const meant = report.suggestion(id, variables);
        report.warn("VARIABLE_UNKNOWN", pointer, `reads vars.${id}, which is not declared, and no node "set" sets it${meant}`);
        continue;
      }
      report.warn("NODE_UNKNOWN", pointer, `reads ${root}.${id}, and there is no node "${id}"${report.suggestion(id, nodes.keys())}`);
    }
  }
}
