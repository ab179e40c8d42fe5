import { canonicalJson } from "../core/canonical-json.ts";
import type { ResumedEvent, SignalledEvent } from "../core/event.ts";
import { StepfoldError } from "../core/stepfold-error.ts";
import { normalise } from "../core/to-json.ts";
import type { ResumeCommand } from "../engine/answer-wait.ts";
import type { SignalCommand } from "../engine/send-signal.ts";
import type { SnapshotStore } from "../ports/snapshot-store.ts";

const pageSize = 1_000;

/**
 * Whether an answer or a signal with this idempotency key was given before.
 *
 * @throws StepfoldError `RESUME_CONFLICT` if it was, with another payload
 */
export async function answered(
  store: SnapshotStore,
  workflowId: string,
  { type, idempotencyKey, payload }: ResumeCommand | SignalCommand,
): Promise<boolean> {
  if (idempotencyKey === undefined) return false;
  const before = await find(store, workflowId, type === "signal" ? "signalled" : "resumed", idempotencyKey);
  if (!before) return false;
  const same =
    payload === undefined
      ? before.payload === undefined
      : before.payload !== undefined && canonicalJson(before.payload) === canonicalJson(normalise(payload, "The payload").value);
  if (!same) throw new StepfoldError("RESUME_CONFLICT", { workflowId, waitId: "waitId" in before ? before.waitId : before.name });
  return true;
}

async function find(
  store: SnapshotStore,
  workflowId: string,
  type: "resumed" | "signalled",
  idempotencyKey: string,
): Promise<ResumedEvent | SignalledEvent | null> {
  for (let after = -1; ; ) {
    const rows = await store.events(workflowId, after, pageSize);
    for (const { event } of rows) {
      if ((event.type === "resumed" || event.type === "signalled") && event.type === type && event.idempotencyKey === idempotencyKey)
        return event;
    }
    if (rows.length < pageSize) return null;
    after = rows.at(-1)!.version;
  }
}
