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

/** Warns of expressions that read the result or the paths of a node that is not there: they never give anything. */
export function lintReads(
  uses: readonly TemplateUse[],
  nodes: ReadonlyMap<string, unknown>,
  report: DefinitionReport,
  work: WorkBudget,
): void {
  for (const { pointer, reads } of uses) {
    const told = new Set<string>();
    work.spend(reads.length);
    for (const [root, id] of reads) {
      if (!roots.includes(root) || id === undefined || id === "*" || nodes.has(id) || told.has(id)) continue;
      told.add(id);
      report.warn("NODE_UNKNOWN", pointer, `reads ${root}.${id}, and there is no node "${id}"${report.suggestion(id, nodes.keys())}`);
    }
  }
}
