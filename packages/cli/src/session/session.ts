import type { EpochMs, GlobalsOf, NodeDefinitions } from "stepfold";
import { builtinNodes } from "stepfold/nodes";
import { httpNode } from "stepfold/nodes/http";
import { createRuntime, type Runtime } from "stepfold/runtime";
import { BadInput } from "../bad-input.ts";
import type { LoadedConfig } from "../config/config.ts";
import { type GlobalsParts, openGlobals } from "../config/open-globals.ts";
import { clockOf } from "../store/clock-of.ts";
import type { Store } from "../store/database.ts";
import { oneExecution } from "../store/one-execution.ts";
import { outageOf } from "../store/outage.ts";

/** The lease is short, so that the next command can go on soon after a `kill -9`. A running command renews it in time. */
const shortLeaseMs = 2_000;
const pollMs = 200;
/** How long a database may be silent before the command gives up. The execution stays safe. */
const patienceMs = 30_000;

/** What a command uses to drive one execution. */
export interface Session {
  readonly runtime: Runtime;
  readonly leaseMs: number;
  /** The time by the clock of the database, with which times of the execution are compared. */
  now(): EpochMs;
  /** Begins to run what is due. Nothing runs before this call or the first commit of this process. */
  begin(): void;
  /** True if this process could not claim the execution twice in a row, for example because another process holds it. */
  couldNotClaim(): boolean;
  /** Why the database does not answer; null while it does. */
  outageReason(): string | null;
  /** Stacks of the errors of failed steps that are not tried again, oldest first. */
  readonly stacks: readonly string[];
  /** Rejects if this process cannot drive the execution at all. */
  readonly failure: Promise<never>;
}

/** What is needed to open a session. */
export interface SessionParts extends GlobalsParts {
  readonly workflowId: string;
  readonly store: Store;
  /** False: this process commits commands, and runs no steps. Default: true. */
  readonly drives?: boolean;
}

/** The node types of a command: the built-in ones, `http`, and those of the config, which replace others with the same name. */
export function nodeDefinitionsOf({ nodeDefinitions = {} }: LoadedConfig): NodeDefinitions {
  return { ...(builtinNodes as unknown as NodeDefinitions), http: httpNode() as unknown as NodeDefinitions[string], ...nodeDefinitions };
}

/** Opens a session for one execution; `cleanup` closes it. @throws BadInput `CONFIG_FAILED`, `USAGE` */
export async function openSession(parts: SessionParts): Promise<Session> {
  const { workflowId, store, config, cleanup, drives = true } = parts;
  const leaseMs = readLeaseMs(process.env.STEPFOLD_LEASE_MS, shortLeaseMs);
  const globals = await openGlobals(parts);
  const now = await clockOf(store);
  const one = oneExecution(store, workflowId);
  let fail: (error: unknown) => void = () => undefined;
  const failure = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  failure.catch(() => undefined);
  const outage = outageOf(patienceMs, fail);
  const stacks: string[] = [];
  const runtime = createRuntime<NodeDefinitions>({
    store: { ...one.store, claim: (options) => one.store.claim(options).then(outage.over) },
    workflows: config.workflows ?? [],
    nodeDefinitions: nodeDefinitionsOf(config),
    globals: globals as GlobalsOf<NodeDefinitions>,
    ...(config.secrets && { secrets: config.secrets }),
    leaseMs,
    pollMs,
    drive: drives,
    ...(config.limits ? { limits: config.limits } : {}),
    onProblem: (_id, error) => outage.tell(error),
    logger: { info: () => undefined, warn: () => undefined, error: (_message, details) => stacks.push(...stackIn(details)) },
  });
  cleanup.add(() => runtime.close());
  return { runtime, leaseMs, now, begin: one.begin, couldNotClaim: one.couldNotClaim, outageReason: outage.reason, stacks, failure };
}

/** Returns the stack of a failed step. Errors of background work have no `nodeId`: they are reported elsewhere. */
function stackIn(details: { readonly nodeId?: string; readonly stack?: string } = {}): string[] {
  return details.nodeId === undefined || details.stack === undefined ? [] : [details.stack];
}

/** Reads `STEPFOLD_LEASE_MS`, which is meant for tests and experts. @throws BadInput `USAGE` */
export function readLeaseMs(text: string | undefined, defaultLeaseMs: number): number {
  if (text === undefined || text === "") return defaultLeaseMs;
  const leaseMs = Number(text);
  if (Number.isInteger(leaseMs) && leaseMs >= 50) return leaseMs;
  throw new BadInput("USAGE", `STEPFOLD_LEASE_MS must be a whole number of milliseconds, at least 50, not "${text}"`);
}
