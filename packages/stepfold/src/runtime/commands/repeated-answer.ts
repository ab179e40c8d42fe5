import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { itemOf, scopedKey } from "../../core/snapshot/address.ts";
import type { ResumedEvent, SignalledEvent } from "../../core/snapshot/event.ts";
import { readTarget } from "../../core/snapshot/target.ts";
import { canonicalJson } from "../../core/values/canonical-json.ts";
import { normalise } from "../../core/values/to-json.ts";
import type { ResumeCommand } from "../../engine/commands/answer-wait.ts";
import type { SignalCommand } from "../../engine/commands/send-signal.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";

const pageSize = 1_000;

/** An earlier signal or answer with the same key. */
type Earlier = SignalledEvent | { readonly event: ResumedEvent; readonly nodeId: string };

/**
 * Whether an answer or a signal with this idempotency key was given before.
 *
 * @throws StepfoldError `RESUME_CONFLICT` if it was, with another payload, to another wait or by another name
 */
export async function isRepeatedAnswer(store: SnapshotStore, workflowId: string, command: ResumeCommand | SignalCommand): Promise<boolean> {
  const { type, idempotencyKey, payload } = command;
  if (idempotencyKey === undefined) return false;
  const earlier = await find(store, workflowId, type, idempotencyKey);
  if (!earlier) return false;
  const event = "event" in earlier ? earlier.event : earlier;
  const isSame =
    payload === undefined
      ? event.payload === undefined
      : event.payload !== undefined && canonicalJson(event.payload) === canonicalJson(normalise(payload, "The payload").value);
  if (isSame && hasSameTarget(earlier, command)) return true;
  throw new StepfoldError("RESUME_CONFLICT", { workflowId, waitId: "waitId" in event ? event.waitId : event.name });
}

async function find(store: SnapshotStore, workflowId: string, type: "resume" | "signal", idempotencyKey: string): Promise<Earlier | null> {
  const nodeOfWait = new Map<string, string>();
  for (let after = -1; ; ) {
    const rows = await store.events(workflowId, after, pageSize);
    for (const { event } of rows) {
      if (event.type === "suspended") for (const { id } of event.waits) nodeOfWait.set(id, event.nodeId);
      if (event.type === "signalled" && type === "signal" && event.idempotencyKey === idempotencyKey) return event;
      if (event.type === "resumed" && type === "resume" && event.idempotencyKey === idempotencyKey)
        return { event, nodeId: nodeOfWait.get(event.waitId)! };
    }
    if (rows.length < pageSize) return null;
    after = rows.at(-1)!.version;
  }
}

/** Whether both name the same wait or signal, as far as the command says which, and the same person. */
function hasSameTarget(earlier: Earlier, command: ResumeCommand | SignalCommand): boolean {
  if (command.type === "signal") return !("event" in earlier) && earlier.name === command.name && earlier.key === command.key;
  if (!("event" in earlier)) return false;
  const { scope = "", pathId, waitId } = earlier.event;
  const wanted = readTarget(command.target);
  if (earlier.event.who !== command.by) return false;
  if (wanted.waitId !== undefined) return wanted.waitId === waitId;
  if (wanted.pathId !== undefined) return wanted.pathId === scopedKey(scope, pathId);
  // with an item, the node may be the map around the wait
  if (wanted.item !== undefined) return itemOf(scope) === wanted.item;
  return wanted.node === undefined || wanted.node.split("/").at(-1) === earlier.nodeId;
}
