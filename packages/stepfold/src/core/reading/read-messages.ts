import type { Snapshot } from "../snapshot/snapshot.ts";
import { isWorkflowId } from "../values/id.ts";
import type { Json, JsonObject } from "../values/json.ts";
import { count, invalid, time } from "./read-number.ts";
import { list, object, optionalText, text } from "./read-text.ts";

/** Reads the signals in the inbox. */
export function readInbox(value: Json): Snapshot["inbox"] {
  for (const [i, kept] of list(value, "/inbox", "must be a list of signals").entries()) {
    const signal = object(kept, `/inbox/${i}`, "must be an object with name and expiresAt");
    text(signal.name, `/inbox/${i}/name`, "must be the name of a signal");
    optionalText(signal, ["key"], `/inbox/${i}`);
    if (time(signal.expiresAt, `/inbox/${i}/expiresAt`) === undefined) return invalid(`/inbox/${i}/expiresAt`, "must say until when");
  }
  return value as unknown as Snapshot["inbox"];
}

/** Reads the messages in the outbox. */
export function readOutbox(value: Json): Snapshot["outbox"] {
  const messages = list(value, "/outbox", "must be a list of messages");
  if (messages.length === 0) return invalid("/outbox", "must hold a message, or be absent");
  const ids = new Set<Json>();
  for (const [i, sent] of messages.entries()) {
    const pointer = `/outbox/${i}`;
    const message = object(sent, pointer);
    const { id, to, type } = message;
    if (typeof id !== "string" || !/^\d{1,16}\.\d{1,9}$/.test(id) || ids.has(id))
      return invalid(`${pointer}/id`, "must be a version and a number, as no other message has them");
    ids.add(id);
    if (!isWorkflowId(to)) return invalid(`${pointer}/to`, "must name an execution");
    if (type === "start") checkStart(message, pointer);
    else if (type === "cancel") text(message.waitId, `${pointer}/waitId`, "must be the id of a wait");
    else if (type !== "ended") return invalid(`${pointer}/type`, "must be start, cancel or ended");
  }
  return value as unknown as Snapshot["outbox"];
}

function checkStart({ definition, waitId }: JsonObject, pointer: string): void {
  readDefinition(definition, `${pointer}/definition`);
  if (waitId !== undefined) text(waitId, `${pointer}/waitId`, "must be the id of a wait");
}

/** Reads the link to the parent execution. */
export function readParent(value: Json): Snapshot["parent"] {
  const parent = object(value, "/parent");
  if (!isWorkflowId(parent.workflowId)) return invalid("/parent/workflowId", "must name an execution");
  optionalText(parent, ["incarnation", "waitId"], "/parent");
  count(parent.depth, "/parent/depth");
  return parent as unknown as Snapshot["parent"];
}

/** Reads the id and hash of a definition. */
export function readDefinition(value: Json | undefined, pointer: string): Snapshot["definition"] {
  const { id, hash } = object(value, pointer, "must be an object with id and hash");
  if (typeof id !== "string" || typeof hash !== "string") return invalid(pointer, "must be an object with id and hash");
  return Object.freeze({ id, hash });
}
