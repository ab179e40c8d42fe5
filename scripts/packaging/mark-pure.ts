import { type Plugin, RolldownMagicString } from "rolldown";
import type { ESTree } from "rolldown/utils";
import { parseSync } from "rolldown/utils";

/**
 * Marks the calls that make constants of a module as free of side effects, as package.json promises for the whole module. A chunk holds
 * many modules, and without the marks a user's bundler would keep the constants of all of them if it needs one.
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

/** Returns the offsets of a call that makes a value, and of the calls that make its arguments. */
function callsOf(made: ESTree.Argument | null): number[] {
  if (made?.type !== "CallExpression" && made?.type !== "NewExpression") return [];
  return [made.start, ...made.arguments.flatMap(callsOf)];
}
