import { type Plugin, RolldownMagicString } from "rolldown";
import type { ESTree } from "rolldown/utils";
import { parseSync } from "rolldown/utils";

/**
 * Marks what constants of a module are made by as free of side effects, as package.json promises for the whole module. A chunk
 * holds many modules, and without the marks the bundler of a user would keep the constants of all of them for any one.
 */
export const markPure: Plugin = {
  name: "mark-pure",
  transform: {
    filter: { code: /^(export )?const .*\(/m },
    handler(code, path) {
      const marked = new RolldownMagicString(code);
      for (const statement of parseSync(path, code).program.body) {
        const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
        if (declaration?.type !== "VariableDeclaration") continue;
        for (const { init } of declaration.declarations) {
          for (const start of callsOf(init)) marked.appendLeft(start, "/* @__PURE__ */ ");
        }
      }
      return { code: marked };
    },
  },
};

/** Where a call begins that makes a value, and those that make its arguments. */
function callsOf(made: ESTree.Argument | null): number[] {
  if (made?.type !== "CallExpression" && made?.type !== "NewExpression") return [];
  return [made.start, ...made.arguments.flatMap(callsOf)];
}
