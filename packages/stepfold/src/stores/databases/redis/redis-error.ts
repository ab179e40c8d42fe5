import { StepfoldError } from "../../../core/errors/stepfold-error.ts";

/** Error words of a Redis server after which the same call may succeed later, with their meaning and, where needed, what to do. */
const passing: Readonly<Record<string, string>> = {
  LOADING: "the server is still loading its data",
  BUSY: "the server is busy with a script",
  READONLY: "the server is a replica: another server became the primary, or the address is wrong",
  MASTERDOWN: "the replica has lost its primary",
  NOREPLICAS: "too few replicas are up to date (min-replicas-to-write)",
  CLUSTERDOWN: "the cluster does not serve the slot of these keys",
  TRYAGAIN: "the cluster is moving the slot of these keys",
  OOM: "the server has no memory left: raise maxmemory, or prune. maxmemory-policy must be noeviction",
  MISCONF: "the server cannot write to its disk: read its log, and free space",
};

/** Error words that mean a mistake in the setup, with their meaning and what to do. */
const lasting: Readonly<Record<string, string>> = {
  WRONGTYPE: "a key of this store holds something else: give each use of the server a prefix of its own",
  NOAUTH: "the server requires a password: configure one in the client",
  WRONGPASS: "the server does not accept the user name and password, or the token, of the client",
  NOPERM:
    "the user of the client has no permission for this: allow EVAL, EVALSHA and the commands listed in docs/stores/redis.md on the keys of this prefix",
  CROSSSLOT: "all keys must be in one slot: do not configure a key prefix with braces in the client",
  OLDLAYOUT: "the keys of this prefix were written by an older version of Stepfold, with another layout: use another prefix",
  MOVED: "the server is part of a cluster: use a cluster client",
};

/** Matches messages that say that there are too many clients, or that a quota of requests is used up. */
const exhausted = /max number of clients|max (?:daily|monthly)?\s*requests? limit|max concurrent|too many requests/i;

/**
 * Converts an error of a server, of the client or of the network into a `StepfoldError`. Its reason quotes nothing that was sent.
 *
 * @param store name of the store
 */
export function serverError(store: string, cause: unknown): StepfoldError {
  if (StepfoldError.is(cause)) return cause;
  const message = quoteless(cause instanceof Error ? cause.message : String(cause));
  const word = wordOf(message);
  const means = word === null ? undefined : (passing[word] ?? lasting[word]);
  const isPassing = word === null ? !isMistake(cause, message) : Object.hasOwn(passing, word) || exhausted.test(message);
  const reason = means === undefined ? message : `${word}: ${means}`;
  // a cause that quotes whole commands would carry values of users into every log
  const isQuoting = cause instanceof Error && cause.message.includes(", command was: ");
  return new StepfoldError(isPassing ? "STORE_UNAVAILABLE" : "STORE_REJECTED", { store, reason }, isQuoting ? undefined : { cause });
}

/** True if the client refused a value that it was given. A TypeError of `fetch` does not count: it may mean that no server answered. */
function isMistake(cause: unknown, message: string): boolean {
  return (cause instanceof TypeError && !/fetch/i.test(message)) || cause instanceof RangeError || cause instanceof SyntaxError;
}

/** Returns the message of the server or client without the parts that quote commands or name settings of the client. */
function quoteless(message: string): string {
  const [said = ""] = message.split(/, command was: |, with args beginning with|\r|\n/, 1);
  if (said.startsWith("Reached the max retries")) return "the client could not connect";
  return said.replace(/^Command failed: /, "").slice(0, 300);
}

/** Returns the word with which a server's error begins, such as `OOM`; null if the message is not from a server. */
function wordOf(message: string): string | null {
  // versions 6 and 7 report NOPERM in this form within a script
  if (/^ERR The user executing the script can't /.test(message)) return "NOPERM";
  // before version 7, an error within a script comes after the place where it happened
  const within = /^ERR Error running script.*?: ?-?([A-Z]{3,})\b/.exec(message)?.[1];
  return within ?? /^([A-Z]{2,}[A-Z0-9_]*)(?: |$)/.exec(message)?.[1] ?? null;
}
