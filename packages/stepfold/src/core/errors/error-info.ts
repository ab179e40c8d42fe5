import { cutText } from "./cut-text.ts";
import { safeMember } from "./safe-member.ts";

/** A failure as data: what was thrown, scrubbed of secrets and cut to size. */
export interface ErrorInfo {
  readonly name: string;
  readonly message: string;
  /** Stable code, if the error had one. */
  readonly code?: string;
  /** Further facts as JSON: the details of a `FatalError`, or of a node of type `fail`. */
  readonly details?: unknown;
  /** Id of the node at which the failure happened. */
  readonly nodeId?: string;
  /** For an execution: the nodes whose compensations failed for good, so that their effects are not undone. */
  readonly notUndone?: readonly string[];
  /** For a map: its first failed item, with the error of that item. */
  readonly cause?: ErrorInfo & { readonly item: number };
  /** The stack trace. Only with the option `keepStacks`. */
  readonly stack?: string;
}

const maxMessageLength = 2_000;
/** The most characters of a text that are searched for secrets, because the search takes time for each character. */
const maxScrubbedLength = 8_000;
/**
 * The number of characters that are dropped at the end of a text that was cut before the search: they may be the first half of a secret.
 */
const maxSecretLength = 4_000;
const unreadable = "something that cannot be read was thrown";

/**
 * Converts a thrown value to data that a snapshot may hold: name, message and code, cut to size; no details, stack or cause.
 *
 * @param scrub removes secrets from a text
 */
export function errorInfo(thrown: unknown, nodeId?: string, scrub: (text: string) => string = (text) => text): ErrorInfo {
  const { name, message, code } = read(thrown);
  const info: { name: string; message: string; code?: string; nodeId?: string } = {
    name: scrubbed(name, 100, scrub),
    message: scrubbed(message, maxMessageLength, scrub),
  };
  if (code !== undefined) info.code = scrubbed(code, 100, scrub);
  if (nodeId !== undefined) info.nodeId = nodeId;
  return Object.freeze(info);
}

/**
 * Returns the stack of a thrown value, cut to size. Undefined if there is none, or for a `StepfoldError`: its stack would only show where
 * this library found a mistake.
 *
 * @param scrub removes secrets from a text
 */
export function stackOf(thrown: unknown, scrub: (text: string) => string): string | undefined {
  const stack = safeMember(thrown, "stack");
  if (typeof stack !== "string" || safeMember(thrown, "~stepfoldError") === true) return undefined;
  return scrubbed(stack, maxScrubbedLength, scrub);
}

/** Reads a thrown value. Any value can be thrown, also an object whose members throw when they are read. */
function read(thrown: unknown): { name: string; message: string; code: string | undefined } {
  try {
    if (typeof thrown !== "object" || thrown === null) return { name: "Error", message: String(thrown), code: undefined };
    const { name, message, code } = thrown as Record<string, unknown>;
    return {
      name: typeof name === "string" && name !== "" ? name : "Error",
      message: typeof message === "string" ? message : (JSON.stringify(thrown) ?? unreadable),
      code: typeof code === "string" || typeof code === "number" ? String(code) : undefined,
    };
  } catch {
    return { name: "Error", message: unreadable, code: undefined };
  }
}

function scrubbed(text: string, maxLength: number, scrub: (text: string) => string): string {
  if (text.length <= maxScrubbedLength) return cutText(scrub(text), maxLength);
  const clean = scrub(text.slice(0, maxScrubbedLength));
  return cutText(`${clean.slice(0, Math.max(0, clean.length - maxSecretLength))}…`, maxLength);
}
