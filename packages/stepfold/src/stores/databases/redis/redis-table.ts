import type { WorkflowDefinition } from "../../../core/definition/definition.ts";
import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { checkedStore } from "../../kit/checked-store.ts";
import { bytesOf, refuseOversize } from "../../kit/value-limit.ts";
import { fairClaim } from "../../record/fair-claim.ts";
import { claimDue, releaseClaim, renewClaim } from "./claims.ts";
import { keysOf } from "./keys.ts";
import { listExecutions } from "./list-executions.ts";
import { eventsOf, loadSnapshot } from "./load-snapshot.ts";
import { deleteExecution, pruneExecutions } from "./prune-executions.ts";
import { definitionScript, nowScript, putDefinitionScript } from "./read-scripts.ts";
import { serverError } from "./redis-error.ts";
import { said } from "./redis-reply.ts";
import type { RunScript } from "./run-script.ts";
import type { ScriptStore } from "./script-store.ts";
import { writeQueue } from "./write-queue.ts";

/** What differs between servers that run scripts. */
export interface ScriptStoreOptions {
  readonly name: string;
  readonly run: RunScript;
  readonly prefix: string;
  readonly idempotencyRetentionMs: number;
  readonly durable: boolean;
  /** Largest head, event or child, in bytes. */
  readonly maxValueBytes: number;
  /** Largest commit, in bytes of the JSON that it travels in. Default: no limit. */
  readonly maxRequestBytes?: number;
}

/** The store on a server that runs scripts. */
export function storeOverScripts({ name, run, durable, maxValueBytes, ...options }: ScriptStoreOptions): SnapshotStore {
  const underWay = new Set<Promise<unknown>>();
  const store: ScriptStore = {
    name,
    keys: keysOf(options.prefix),
    run: (script, keys, args) => {
      const reply = run(script, keys, args);
      const forget = (): boolean => underWay.delete(reply);
      underWay.add(reply);
      reply.then(forget, forget);
      return reply;
    },
    retention: retentionOf(options.idempotencyRetentionMs),
    refuseOversize({ written, args, size }) {
      refuseOversize(name, maxValueBytes, written);
      refuseRequest(name, options.maxRequestBytes, written.workflowId, args, size);
    },
  };
  const queue = writeQueue(store);
  // what was issued before comes first
  const after = async <T>(workflowId: string | undefined, work: () => Promise<T>): Promise<T> => {
    if (workflowId !== undefined) await queue.settled(workflowId);
    return work();
  };
  return checkedStore(
    {
      name,
      features: { clock: "store", durable, multiProcess: true, maxValueBytes, permits: true },
      create: (commit, { claim } = {}) => queue.create(commit, claim),
      commit: (commit) => queue.commit(commit),
      claim: fairClaim((wanted) => after(wanted.workflowId, () => claimDue(store, wanted))),
      renew: (claim) => renewClaim(store, claim),
      release: (claim, version) => after(claim.workflowId, () => releaseClaim(store, claim, version)),
      now: async () => Number(said(await store.run(nowScript, [store.keys.due], []))),
      load: (workflowId) => loadSnapshot(store, workflowId),
      events: (workflowId, afterVersion, limit) => eventsOf(store, workflowId, afterVersion, limit),
      list: (query) => listExecutions(store, query),
      delete: (workflowId) => after(workflowId, () => deleteExecution(store, workflowId)),
      prune: (wanted) => pruneExecutions(store, wanted),
      putDefinition: async (hash, definition) => {
        await store.run(putDefinitionScript, [store.keys.due], [hash, JSON.stringify(definition)]);
      },
      getDefinition: async (hash) => {
        const text = said(await store.run(definitionScript, [store.keys.due], [hash]));
        return text === null ? null : readDefinition(name, hash, text);
      },
      close: async () => {
        await queue.idle();
        await Promise.allSettled([...underWay]);
      },
    },
    (cause) => serverError(name, cause),
  );
}

function readDefinition(store: string, hash: string, text: string): WorkflowDefinition {
  try {
    return JSON.parse(text) as WorkflowDefinition;
  } catch {
    throw new StepfoldError("STORE_REJECTED", { store, reason: `what is stored of the definition "${hash}" is damaged` });
  }
}

/** Whole milliseconds that Redis can add to its clock. */
function retentionOf(durationMs: number): string {
  if (durationMs >= 0) return Math.min(Math.ceil(durationMs), 1e14).toFixed(0);
  throw new StepfoldError("OPTION_INVALID", { option: "idempotencyRetentionMs", reason: "must be a number of milliseconds, at least 0" });
}

/** Refuses a commit that does not fit into one request. JSON in JSON grows, sixfold at most. */
function refuseRequest(store: string, max: number | undefined, workflowId: string, args: readonly string[], size: number): void {
  if (max === undefined || size * 6 <= max) return;
  const actual = bytesOf(JSON.stringify(args));
  if (actual <= max) return;
  throw new StepfoldError("LIMIT_EXCEEDED", {
    what: `A commit of execution "${workflowId}"`,
    limit: `${store} request in bytes`,
    max,
    actual,
  });
}
