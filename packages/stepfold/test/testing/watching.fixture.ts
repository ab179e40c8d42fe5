import type { Plugin } from "../../src/engine/plugin.ts";

const hooks = ["onEvent", "onContinued", "onRestarted", "beforeNode", "afterNode", "onError", "onHeartbeat", "onWarning"] as const;

/**
 * The plugins that the tests of the project `watched` give to every runtime: one that reads all it is told, one whose hooks throw, and one
 * whose hooks reject. Else none.
 */
export function watching(): readonly Plugin[] {
  if (process.env.STEPFOLD_WATCHED === undefined) return [];
  const pluginOf = (hook: (...told: unknown[]) => unknown): Plugin => Object.fromEntries(hooks.map((name) => [name, hook]));
  return [
    pluginOf((...told) => JSON.stringify(told)),
    pluginOf(() => {
      throw new Error("a hook throws");
    }),
    pluginOf(async () => {
      throw new Error("a hook rejects");
    }),
  ];
}
