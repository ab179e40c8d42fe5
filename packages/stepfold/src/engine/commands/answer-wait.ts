import type { CompiledNode, CompiledWorkflow } from "../../core/definition/compiled.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { schemaOfAnswer } from "../../core/explain/waits.ts";
import { addressOf } from "../../core/snapshot/address.ts";
import type { ResumedEvent } from "../../core/snapshot/event.ts";
import type { Wait } from "../../core/snapshot/parts/wait.ts";
import type { Snapshot, Undo } from "../../core/snapshot/snapshot.ts";
import type { Target } from "../../core/snapshot/target.ts";
import { nodeWith } from "../../core/transition/draft/draft-path.ts";
import { findWait, workflowOf } from "../../core/transition/find-wait.ts";
import { checkedName } from "../../core/values/ids/checked-name.ts";
import type { EpochMs, Json } from "../../core/values/json.ts";
import type { Limits } from "../../core/values/limits.ts";
import { CheckBudget } from "../schema/check-run.ts";
import type { PreparedWorkflow } from "../workflow/prepared-workflow.ts";
import { thawingValidatorOf, type Validator, validatorOf } from "../workflow/validator.ts";
import type { Asked, CommandStamp } from "./asked.ts";
import { keepValue } from "./keep-value.ts";

/** Answers a wait. */
export interface ResumeCommand extends Asked {
  readonly type: "resume";
  /** The wait to answer. Needed if the execution waits at several places. */
  readonly target?: Target | undefined;
  readonly payload?: unknown;
  /** Answers with the same key and the same payload count as one answer, however often they are sent. */
  readonly idempotencyKey?: string | undefined;
}

/** The event of an answer. @throws StepfoldError `RESUME_AMBIGUOUS`, `RESUME_INVALID`, `CODE_NEEDED`, `RESPONDER_DENIED`, `WAIT_GONE`, ... */
export async function resumeEvent(
  workflow: PreparedWorkflow,
  snapshot: Snapshot,
  command: ResumeCommand,
  stamp: CommandStamp,
  limits: Limits,
): Promise<ResumedEvent> {
  const { scope, path, wait } = findWait(workflow.compiled, snapshot, command.target, stamp.at);
  const event: { -readonly [K in keyof ResumedEvent]: ResumedEvent[K] } = {
    type: "resumed",
    ...stamp,
    ...(scope !== "" && { scope }),
    pathId: path.id,
    waitId: wait.id,
    by: "payload",
  };
  if (command.payload !== undefined) Object.assign(event, keepValue(snapshot, "payload", command.payload, limits));
  checkResponder(wait, event.who, { workflowId: snapshot.workflowId, nodeId: addressOf(snapshot, scope, path.nodeId) });
  if (command.idempotencyKey !== undefined) {
    event.idempotencyKey = checkedName("idempotencyKey", command.idempotencyKey);
    event.nodeId = path.nodeId;
    if (wait.firstId !== undefined) event.firstId = wait.firstId;
  }
  await checkPayload(workflow, snapshot, { scope, path, wait, payload: event.payload }, limits);
  return event;
}

/**
 * Refuses an answer by somebody who may not answer the wait, if the wait is still open. This happens before the idempotency key is looked
 * up, so that the error tells such a person nothing about the answers of others.
 *
 * @throws StepfoldError `RESPONDER_DENIED`
 */
export function requireResponder(workflow: PreparedWorkflow, snapshot: Snapshot, { target, by }: ResumeCommand, now: EpochMs): void {
  let found: ReturnType<typeof findWait>;
  try {
    found = findWait(workflow.compiled, snapshot, target, now);
  } catch {
    // no open wait is found: a repeated answer is recognised later, any other one is refused later
    return;
  }
  const { scope, path, wait } = found;
  const place = { workflowId: snapshot.workflowId, nodeId: addressOf(snapshot, scope, path.nodeId) };
  if (wait.responders) checkResponder({ ...wait, answers: [] }, by, place);
}

/** A payload, and the wait that it is for. */
interface Answered {
  readonly scope: string;
  readonly path: { readonly nodeId: string; readonly undoes?: Undo | undefined };
  readonly wait: Wait;
  readonly payload: Json | undefined;
}

/** Checks an answer against the schema of its wait or of its node, so that a wrong answer is refused while it can still be corrected. */
export async function checkPayload(
  workflow: PreparedWorkflow,
  snapshot: Snapshot,
  { scope, path, wait, payload }: Answered,
  limits: Limits,
): Promise<void> {
  const { nodeId, undoes } = path;
  // the step that is undone may lie in a child of this scope
  const place = workflowOf(workflow.compiled, snapshot, undoes?.scope ?? scope)!;
  const found = nodeWith(place.nodes, nodeId, undoes?.undo);
  const node = undoes ? found.compensation! : found;
  const byCode = place.code && !undoes ? schemaOfCode(workflow, place, nodeId, wait) : workflow.nodes.get(node)?.resume;
  const validate = wait.schema === undefined && byCode !== undefined ? byCode : schemaWithoutCode(snapshot, node, wait);
  const { issues } = (await validate?.(payload, new CheckBudget(limits))) ?? {};
  if (issues) throw new StepfoldError("RESUME_INVALID", { nodeId, issues });
}

/** Returns the check of an answer to a step that code has asked for; undefined if the code is not here, or declares no such wait. */
function schemaOfCode({ nodes }: PreparedWorkflow, place: CompiledWorkflow, nodeId: string, { kind }: Wait): Validator | undefined {
  const declared = nodes.get(place.nodes.get(place.starts[0]!)!)?.definition["~code"];
  const schemas = kind === "signal" ? declared?.signals : declared?.waits;
  return schemas && Object.hasOwn(schemas, nodeId) ? thawingValidatorOf(schemas[nodeId]!) : undefined;
}

/**
 * Returns the check of the payload that the snapshot itself describes; null if it describes none.
 *
 * @throws StepfoldError `CODE_NEEDED` if only the code of the node can check the payload
 */
function schemaWithoutCode({ workflowId, schemas }: Snapshot, { node }: CompiledNode, wait: Wait): Validator | null {
  const schema = schemaOfAnswer(wait, schemas);
  if (schema === "code") throw new StepfoldError("CODE_NEEDED", { workflowId, nodeId: node.id, type: node.type });
  return schema === undefined ? null : validatorOf(schema);
}

function checkResponder(
  { id: waitId, responders, quorum, answers }: Wait,
  who: string | undefined,
  place: { readonly workflowId: string; readonly nodeId: string },
): void {
  if (!responders && quorum === undefined) return;
  const denied = (reason: string): StepfoldError =>
    new StepfoldError("RESPONDER_DENIED", { ...place, waitId, who: who ?? "nobody", reason });
  if (who === undefined) throw denied('needs the name of the person who answers ("by")');
  if (responders && !responders.includes(who)) throw denied(`may be answered by: ${responders.slice(0, 20).join(", ")}`);
  if (answers?.some(({ by }) => by === who)) throw denied("already has an answer of this person");
}
