import { defineNode, FatalError } from "stepfold";
import { builtinNodes } from "stepfold/nodes";

/**
 * The built-in node types, and some that fail: `flaky` at its first attempt, `broken` always, `gate` by the handle `auth-error`; `endless` runs until it
 * is stopped.
 */
export function testNodes() {
  return {
    ...builtinNodes,
    flaky: defineNode({
      executor: (data, step) => {
        if (step.attempt === 1) throw new Error("503 Service Unavailable");
        return { data };
      },
    }),
    broken: defineNode({
      executor: () => {
        throw Object.assign(new FatalError("The card has expired"), { code: "DECLINED" });
      },
    }),
    endless: defineNode({
      executor: (_data, { signal }) =>
        new Promise<never>((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true })),
    }),
    gate: defineNode({ handles: ["", "auth-error"], executor: (data) => ({ data, nextHandle: "auth-error" as const }) }),
  };
}
