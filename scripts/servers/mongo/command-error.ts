import type { Document } from "bson";

/** MongoDB's names of the error codes that are used here. */
const codeNames: Readonly<Record<number, string>> = {
  1: "InternalError",
  2: "BadValue",
  9: "FailedToParse",
  14: "TypeMismatch",
  20: "IllegalOperation",
  26: "NamespaceNotFound",
  27: "IndexNotFound",
  40: "ConflictingUpdateOperators",
  43: "CursorNotFound",
  48: "NamespaceExists",
  59: "CommandNotFound",
  66: "ImmutableField",
  67: "CannotCreateIndex",
  86: "IndexKeySpecsConflict",
  115: "CommandNotSupported",
  10334: "BSONObjectTooLarge",
  11000: "DuplicateKey",
  13113: "MergeStageNoMatchingDocument",
};

/** The failure of a command, or of one of its writes. */
export class CommandError extends Error {
  readonly code: number;
  readonly details: Document;

  constructor(code: number, message: string, details: Document = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }

  /** The reply to a command that failed as a whole. */
  get reply(): Document {
    const codeName = codeNames[this.code] ?? `Location${this.code}`;
    return { ok: 0, errmsg: this.message, code: this.code, codeName, ...this.details };
  }

  /** Returns an entry of `writeErrors`. */
  writeError(index: number): Document {
    return { index, code: this.code, errmsg: this.message, ...this.details };
  }
}

/** Returns a CommandError as it is, and an error of mingo with the code that MongoDB would most likely give it. */
export function asCommandError(error: unknown, fallbackCode: number): CommandError {
  if (error instanceof CommandError) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (/immutable field/.test(message)) return new CommandError(66, message);
  if (/conflict/i.test(message)) return new CommandError(40, message);
  if (/unregistered pipeline operator/.test(message)) return new CommandError(40324, message);
  return new CommandError(fallbackCode, message);
}
