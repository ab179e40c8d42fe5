import { type Event, type Json, type Plugin, systemEnvironment } from "stepfold";

/** What a process that runs executions tells those who look: plain data that can be sent to another process. */
export type LiveMessage =
  | { readonly type: "event"; readonly workflowId: string; readonly event: Event }
  | {
      readonly type: "progress";
      readonly workflowId: string;
      readonly nodeId: string;
      readonly pathId: string;
      readonly attempt: number;
      /** What the step has told by `heartbeat`. Absent: the attempt has begun. */
      readonly progress?: Json;
      readonly at: number;
    };

/** Carries what happens in a runtime to a server, in the same process or in another one. */
export interface LiveEvents {
  /** Goes into the option `plugins` of the runtime that runs the executions. */
  readonly plugin: Plugin;
  /** Passes on a message of another process. Messages may be lost, doubled or late: a server finds what is missing in the store. What is no message is ignored. */
  publish(message: LiveMessage): void;
  /** Calls `listener` with every message from now on. Returns a function that ends this. */
  listen(listener: (message: LiveMessage) => void): () => void;
}

/**
 * Makes the link from a runtime to a server. With it, pages see each step at once and the server reads nothing for it; without it, they see
 * it a quarter of a second later, and the server reads the new events from the store. It also carries what the store does not keep: which
 * attempts have begun, and the progress that steps tell by `heartbeat`.
 *
 * ```ts
 * import { createServer, liveEvents, tokens } from "@stepfold/server";
 *
 * const live = liveEvents();
 * const runtime = createRuntime({ store, workflows, nodeDefinitions, plugins: [live.plugin] });
 * const server = createServer({ runtime, store, auth, live });
 * ```
 *
 * If another process runs the executions, it sends its messages over any channel: there `live.listen((message) => process.send(message))`,
 * here `child.on("message", (message) => live.publish(message))`.
 */
export function liveEvents(): LiveEvents {
  const listeners = new Set<(message: LiveMessage) => void>();
  const publish = (message: LiveMessage): void => {
    for (const listener of listeners) listener(message);
  };
  return {
    plugin: {
      name: "live",
      onEvent: (event, { workflowId }) => publish({ type: "event", workflowId, event }),
      beforeNode: (task) => publish(progressOf(task)),
      onHeartbeat: (progress, task) => publish({ ...progressOf(task), progress: (progress ?? null) as Json }),
    },
    publish(message) {
      // it comes from another process, perhaps of another version
      if (isMessage(message)) publish(message);
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function isMessage(message: unknown): message is LiveMessage {
  const { type, workflowId, event, pathId } = (message ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof workflowId !== "string") return false;
  return type === "event"
    ? Number.isSafeInteger((event as { version?: unknown } | null)?.version)
    : type === "progress" && typeof pathId === "string";
}

type Task = Parameters<NonNullable<Plugin["beforeNode"]>>[0];

function progressOf({ workflowId, nodeId, scope, pathId, attempt }: Task): LiveMessage & { readonly type: "progress" } {
  return { type: "progress", workflowId, nodeId, pathId: scope ? `${scope}>${pathId}` : pathId, attempt, at: systemEnvironment.now() };
}
