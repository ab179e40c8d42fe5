import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { SignalledEvent } from "../../core/snapshot/event.ts";
import type { KeptSignal, Snapshot } from "../../core/snapshot/snapshot.ts";
import { openDraft } from "../../core/transition/draft/open-draft.ts";
import { findTaker } from "../../core/transition/paths/signals.ts";
import type { Duration } from "../../core/values/duration.ts";
import { durationMs } from "../../core/values/duration.ts";
import { checkedName } from "../../core/values/ids/checked-name.ts";
import { sizeOfJson } from "../../core/values/json.ts";
import type { Limits } from "../../core/values/limits.ts";
import type { PreparedWorkflow } from "../workflow/prepared-workflow.ts";
import { checkPayload } from "./answer-wait.ts";
import type { Asked, CommandStamp } from "./asked.ts";
import { keepValue } from "./keep-value.ts";

/** How long the inbox keeps a signal, if the command does not say. */
const defaultTtl: Duration = "30 days";

/** Tells an execution that something has happened, by a name that steps wait for. */
export interface SignalCommand extends Asked {
  readonly type: "signal";
  readonly name: string;
  /** The signal is only for waits with the same key. Absent: only for waits without a key. */
  readonly key?: string | undefined;
  readonly payload?: unknown;
  /** The signal is only for a wait that is open now; the inbox does not keep it. */
  readonly onlyWaiting?: true | undefined;
  /** How long the inbox keeps the signal if no wait for it is open. Default 30 days. */
  readonly ttl?: Duration | undefined;
  /** Signals with the same key and the same payload count as one signal, however often they are sent. */
  readonly idempotencyKey?: string | undefined;
}

/**
 * The event of a signal.
 *
 * @throws StepfoldError `RESUME_INVALID`, `CODE_NEEDED`, `LIMIT_EXCEEDED`, `OPTION_INVALID`, ...; `WAIT_GONE` with `onlyWaiting` if no wait
 * takes the signal
 */
export async function signalEvent(
  workflow: PreparedWorkflow,
  snapshot: Snapshot,
  command: SignalCommand,
  stamp: CommandStamp,
  limits: Limits,
): Promise<SignalledEvent> {
  const { workflowId, inbox = [] } = snapshot;
  const ttlMs = durationMs(command.ttl ?? defaultTtl);
  const event: { -readonly [K in keyof SignalledEvent]: SignalledEvent[K] } = {
    type: "signalled",
    ...stamp,
    name: checkedName("name", command.name),
    expiresAt: stamp.at + Math.min(ttlMs, limits.timerMs),
  };
  if (command.key !== undefined) event.key = checkedName("key", command.key);
  if (command.payload !== undefined) Object.assign(event, keepValue(snapshot, "payload", command.payload, limits));
  if (command.idempotencyKey !== undefined) event.idempotencyKey = checkedName("idempotencyKey", command.idempotencyKey);
  const taker = findTaker(openDraft(workflow.compiled, snapshot), event, stamp.at);
  if (taker) {
    const { scope, path, wait } = taker;
    await checkPayload(workflow, snapshot, { scope: scope.key, path, wait, payload: event.payload }, limits);
    return event;
  }
  if (command.onlyWaiting) throw new StepfoldError("WAIT_GONE", { workflowId, target: event.name, open: [] });
  const kept = inbox.filter(({ expiresAt }) => expiresAt > stamp.at);
  const exceeded = (limit: "inbox" | "inboxBytes", actual: number): StepfoldError =>
    new StepfoldError("LIMIT_EXCEEDED", { what: `The inbox of execution "${workflowId}"`, limit, max: limits[limit], actual });
  if (kept.length >= limits.inbox) throw exceeded("inbox", kept.length + 1);
  const bytes = kept.reduce((sum, signal) => sum + sizeOfSignal(signal), sizeOfSignal(event));
  if (bytes > limits.inboxBytes) throw exceeded("inboxBytes", bytes);
  return event;
}

/** About how many bytes of JSON a signal adds to the inbox. */
function sizeOfSignal({ name, key = "", payload = null }: Pick<KeptSignal, "name" | "key" | "payload">): number {
  return sizeOfJson({ name, key, payload, expiresAt: 0 });
}
