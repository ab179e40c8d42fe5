import { approvalNode } from "./approval.ts";
import { endNode } from "./end.ts";
import { failNode } from "./fail.ts";
import { ifNode } from "./if.ts";
import { mapNode } from "./map.ts";
import { noopNode } from "./noop.ts";
import { raceNode } from "./race.ts";
import { sendSignalNode } from "./send-signal.ts";
import { setNode } from "./set.ts";
import { signalNode } from "./signal.ts";
import { switchNode } from "./switch.ts";
import { waitNode } from "./wait.ts";
import { workflowNode } from "./workflow.ts";

export { approvalNode } from "./approval.ts";
export type { ApprovalAnswer, ApprovalData, ApprovalResult } from "./data/approval-data.ts";
export type { RaceAnswer, RaceData, RaceResult, RaceSignal, RaceTimer } from "./data/race-data.ts";
export type { TimeAhead } from "./data/timestamp.ts";
export { type EndData, endNode } from "./end.ts";
export { type FailData, failNode } from "./fail.ts";
export { type IfData, ifNode } from "./if.ts";
export { type MapData, mapNode } from "./map.ts";
export { noopNode } from "./noop.ts";
export { raceNode } from "./race.ts";
export { type SendSignalData, sendSignalNode } from "./send-signal.ts";
export { setNode } from "./set.ts";
export { type SignalData, signalNode } from "./signal.ts";
export { type SwitchCase, type SwitchData, switchNode } from "./switch.ts";
export { type WaitData, waitNode } from "./wait.ts";
export { type WorkflowData, workflowNode } from "./workflow.ts";

/**
 * The built-in node types by name. They run everywhere, also in browsers. The node type `http` is separate, in `stepfold/nodes/http`,
 * because it needs Node.js and a decision about the hosts that it may call.
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
  readonly map: typeof mapNode;
  readonly noop: typeof noopNode;
  readonly race: typeof raceNode;
  readonly sendSignal: typeof sendSignalNode;
  readonly set: typeof setNode;
  readonly signal: typeof signalNode;
  readonly switch: typeof switchNode;
  readonly wait: typeof waitNode;
  readonly workflow: typeof workflowNode;
} = Object.freeze({
  approval: approvalNode,
  end: endNode,
  fail: failNode,
  if: ifNode,
  map: mapNode,
  noop: noopNode,
  race: raceNode,
  sendSignal: sendSignalNode,
  set: setNode,
  signal: signalNode,
  switch: switchNode,
  wait: waitNode,
  workflow: workflowNode,
});
