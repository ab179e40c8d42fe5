import { safeMember } from "./safe-member.ts";

/** A failure as data: what was thrown, scrubbed of secrets and cut to size. */
export interface ErrorInfo {
  readonly name: string;
  readonly message: string;
  /** Stable code, if the error had one. */
  readonly code?: string;
  /** What else is known of it, as JSON, where the step has said so: those of a `FatalError`, or of a node of type `fail`. */
  readonly details?: unknown;
  /** The node it happened at. */
  readonly nodeId?: string;
  /** Of an execution: nodes whose compensations failed for good, so that what they did is not undone. */
  readonly notUndone?: readonly string[];
  /** Of a map: the first of its items that failed, and with what. */
  readonly cause?: ErrorInfo & { readonly item: number };
  /** Where the code that threw it was. Only where the option `keepStacks` asks for it. */
  readonly stack?: string;
}

const maxMessageLength = 2_000;
/** What of a text is looked at: to take secrets out of it costs time for each character. */
const maxScrubbedLength = 8_000;
/** What is left out at the end of a text that was cut: it may begin a secret which is not known by its first half. */
const maxSecretLength = 4_000;
const unreadable = "something that cannot be read was thrown";

/**
 * What was thrown, as data that a snapshot may hold: name, message and code, cut to size; no stack, no cause.
 *
 * @param scrub takes secrets out of a text
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
 * The stack of what was thrown, cut to size; undefined if there is none, or if it would only tell where this library found a mistake.
 *
 * @param scrub takes secrets out of a text
 */
export function stackOf(thrown: unknown, scrub: (text: string) => string): string | undefined {
  const stack = safeMember(thrown, "stack");
  if (typeof stack !== "string" || safeMember(thrown, "~stepfoldError") === true) return undefined;
  return scrubbed(stack, maxScrubbedLength, scrub);
}

/** Anything can be thrown, also things that throw when looked at. */
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
  if (text.length <= maxScrubbedLength) return cut(scrub(text), maxLength);
  const clean = scrub(text.slice(0, maxScrubbedLength));
  return cut(`${clean.slice(0, Math.max(0, clean.length - maxSecretLength))}…`, maxLength);
}

function cut(text: string, longest: number): string {
  const whole = text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
  // cutting may halve a character, and what was thrown may hold half of one already
  return whole.replace(/\p{Surrogate}/gu, "\uFFFD");
}
