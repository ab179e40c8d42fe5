import { approvalNode } from "./approval.ts";
import { endNode } from "./end.ts";
import { failNode } from "./fail.ts";
import { ifNode } from "./if.ts";
import { noopNode } from "./noop.ts";
import { setNode } from "./set.ts";
import { switchNode } from "./switch.ts";
import { waitNode } from "./wait.ts";

export { type ApprovalAnswer, type ApprovalData, approvalNode } from "./approval.ts";
export { endNode } from "./end.ts";
export { type FailData, failNode } from "./fail.ts";
export { type IfData, ifNode } from "./if.ts";
export { noopNode } from "./noop.ts";
export { setNode } from "./set.ts";
export { type SwitchCase, type SwitchData, type SwitchResult, switchNode } from "./switch.ts";
export { type WaitData, waitNode } from "./wait.ts";

/**
 * The built-in node types by name, all that run anywhere, browsers too. `http` is apart, in `stepfold/nodes/http`: it
 * needs Node.js, and a decision about the hosts it may call.
 *
 * ```ts
 * const engine = new WorkflowEngine({ workflow, nodeDefinitions: { ...builtinNodes, http: httpNode(), charge } });
 * ```
 */
export const builtinNodes: {
  readonly approval: typeof approvalNode;
  readonly end: typeof endNode;
  readonly fail: typeof failNode;
  readonly if: typeof ifNode;
  readonly noop: typeof noopNode;
  readonly set: typeof setNode;
  readonly switch: typeof switchNode;
  readonly wait: typeof waitNode;
} = Object.freeze({
  approval: approvalNode,
  end: endNode,
  fail: failNode,
  if: ifNode,
  noop: noopNode,
  set: setNode,
  switch: switchNode,
  wait: waitNode,
});
