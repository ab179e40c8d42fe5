import { safeMember } from "../core/errors/safe-member.ts";
import type { GuestMessage } from "./host.ts";

/** Reads a message from a mailbox; null if another program has put something else into the mailbox. */
export function readMessage(value: unknown): GuestMessage | null {
  const { id, at, command } = { id: safeMember(value, "id"), at: safeMember(value, "at"), command: safeMember(value, "command") };
  if (typeof id !== "string" || typeof at !== "number" || typeof command !== "object" || command === null) return null;
  return { id, at, command: command as GuestMessage["command"] };
}
