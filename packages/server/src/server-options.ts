import { type Environment, type SnapshotStore, StepfoldError } from "stepfold";
import type { Runtime } from "stepfold/runtime";
import type { Authenticate } from "./guard/principal.ts";
import type { LiveEvents } from "./live/live-events.ts";

/** The store and the runtime of one tenant. */
export interface TenantSite {
  readonly store: SnapshotStore;
  readonly runtime: Runtime;
  /** Tells what happens in the processes that run the executions of this store, and of no other one. Default: the store is asked. */
  readonly live?: LiveEvents | undefined;
}

/** How a server is made. */
export interface ServerOptions extends TenantSite {
  /**
   * The runtime whose executions the server shows and moves. It need not run them: `drive: false` is enough, and then it needs no code of
   * nodes. You close it.
   */
  readonly runtime: Runtime;
  /** The store of the runtime. You close it. */
  readonly store: SnapshotStore;
  /**
   * Finds out who makes a request: `tokens([...])`, or a function of yours. `"off"`: everybody who reaches the server may do everything.
   * That is for your own machine only: such a server listens on loopback only, and answers only under the names of loopback.
   */
  readonly auth: Authenticate | "off";
  /**
   * Tells what happens in the processes that run the executions of `store`, so that pages see it at once. A tenant with a store of its own needs
   * its own: other stores have executions with the same ids. Default: the store is asked.
   */
  readonly live?: LiveEvents | undefined;
  /**
   * Returns the store and the runtime of a tenant, if each tenant has its own. It is called once for each tenant, and again for one that has
   * not been heard of since 1,000 others were. Default: all tenants share the store, and a caller with a tenant reaches only its executions
   * (`runtime.scoped`).
   */
  readonly tenants?: ((tenant: string) => TenantSite) | undefined;
  /** Names, without a port, under which the server is reached: `studio.example.com`. Those of loopback always count. Default: none. */
  readonly hosts?: readonly string[] | undefined;
  /** Pages of these origins may call the API: `{ origins: ["https://app.example.com"] }`. Default: only those of the server itself. */
  readonly cors?: { readonly origins: readonly string[] } | undefined;
  /** Answers what is no route of the API: the pages of Studio. It returns null for what it does not know. Default: 404. */
  readonly studio?: ((request: Request) => Response | null | Promise<Response | null>) | undefined;
  /**
   * Returns the address of who sends a request, for example from a header of your proxy. With it, an address that sends wrong credentials
   * more than 60 times in a minute has to wait. Default: none, because behind a proxy all have the same address.
   */
  readonly clientAddress?: ((request: Request) => string | null) | undefined;
  /** The most requests of one caller in a minute. Default 600. */
  readonly maxRequestsPerMinute?: number | undefined;
  /** Called with errors that are not the caller's, and with the id of the request, which the answer has too. Default: no call. */
  readonly onProblem?: ((error: unknown, requestId: string) => void) | undefined;
  /** Returns what people should know of the server at the moment, as a sentence, such as that no code runs; null: nothing. `GET /v1/me` has it. */
  readonly notice?: (() => string | null) | undefined;
  /** The clock, ids and timers. Default: those of this process. */
  readonly environment?: Environment | undefined;
}

type Check = (value: unknown) => string | null;

const anObject = (what: string, ...methods: readonly string[]): Check => {
  return (value) => {
    const isRight = typeof value === "object" && value !== null;
    const missing = isRight ? methods.find((name) => typeof (value as Readonly<Record<string, unknown>>)[name] !== "function") : "";
    return missing === undefined ? null : `must be ${what}`;
  };
};
const aFunction: Check = (value) => (typeof value === "function" ? null : "must be a function");
const texts: Check = (value) =>
  Array.isArray(value) && value.every((one) => typeof one === "string" && one !== "") ? null : "must be a list of texts";

const checks: { readonly [K in keyof Required<ServerOptions>]: Check } = {
  runtime: anObject("a runtime of createRuntime", "start", "get", "scoped", "summaries"),
  store: anObject("the store of the runtime", "load", "events", "now"),
  auth: (value) => (value === "off" ? null : aFunction(value) && 'must be tokens([...]), a function, or "off" for your own machine'),
  live: anObject("liveEvents()", "publish", "listen"),
  tenants: aFunction,
  hosts: texts,
  cors: (value) =>
    typeof value === "object" && value !== null ? texts((value as { origins?: unknown }).origins) : "must be { origins: [...] }",
  studio: aFunction,
  clientAddress: aFunction,
  maxRequestsPerMinute: (value) => (Number.isSafeInteger(value) && (value as number) >= 1 ? null : "must be a whole number, at least 1"),
  onProblem: aFunction,
  notice: aFunction,
  environment: anObject("an environment", "now", "monotonicMs", "newId", "after"),
};

/** @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN` */
export function checkServerOptions(options: ServerOptions): void {
  if (typeof options !== "object" || options === null) throw invalid("options of createServer", "must be an object");
  const known = Object.keys(checks);
  for (const option of Object.keys(options))
    if (!known.includes(option)) throw new StepfoldError("OPTION_UNKNOWN", { of: "createServer", option, known });
  for (const [option, check] of Object.entries<Check>(checks)) {
    const value = options[option as keyof ServerOptions];
    const isRequired = option === "runtime" || option === "store" || option === "auth";
    const reason = value === undefined && !isRequired ? null : check(value);
    if (reason !== null) throw invalid(option, reason);
  }
  const { auth, hosts = [], cors } = options;
  if (auth !== "off") return;
  if (hosts.length > 0) throw invalid("hosts", 'cannot be given with auth: "off": whoever reaches the server could do everything');
  if (cors) throw invalid("cors", 'cannot be given with auth: "off": every page of these origins could do everything');
}

function invalid(option: string, reason: string): StepfoldError {
  return new StepfoldError("OPTION_INVALID", { option, reason });
}
