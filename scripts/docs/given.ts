/** Declares what the fragments of the docs take as given, in the words of the docs. */
export const given = `import type { Token } from "@stepfold/server";
import type { NodeDefinitions, SnapshotStore, WorkflowDefinition } from "stepfold";
import type { GuestMessage, GuestResult } from "stepfold/guest";
import type { EventFeed, Run, Runtime, RuntimeOptions, WorkQueue } from "stepfold/runtime";
import type { QueueBench, ScenarioOf, FailedSchedule } from "stepfold/testing";
declare global {
  const createRuntime: typeof import("stepfold/runtime").createRuntime;
  const store: SnapshotStore;
  const oldStore: SnapshotStore;
  const queue: WorkQueue;
  const feed: EventFeed;
  const workflows: readonly WorkflowDefinition[];
  const report: WorkflowDefinition;
  const nodeDefinitions: NodeDefinitions;
  const runtime: Runtime;
  const run: Run;
  const input: unknown;
  const options: RuntimeOptions;
  const accounts: readonly Token[];
  const token: string;
  const signal: AbortSignal;
  const version: number;
  const outageBeganAt: number;
  const stripe: object;
  const mail: { send(to: string, text: string, key: string): Promise<void> };
  const defineDurable: typeof import("stepfold").defineDurable;
  const z: typeof import("zod").z;
  const archive: { put(key: string, text: string): Promise<void> };
  const tell: (who: string | undefined, issues: readonly unknown[]) => void;
  const newBench: () => Promise<QueueBench>;
  const failures: readonly FailedSchedule[];
  const scenarioOf: ScenarioOf;
  const pool: import("pg").Pool;
  const env: { readonly DB: import("@cloudflare/workers-types").D1Database };
  /** The journal of a host. */
  const journal: {
    run(name: string, step: () => Promise<GuestResult>): Promise<GuestResult>;
    nextMessage(name: string, until: number | null): Promise<GuestMessage | null>;
  };
}
`;

/** The modules of the reader, and packages that are not installed here, which fragments import. */
export const modules: Readonly<Record<string, string>> = {
  "app.ts": `import type { NodeDefinitions, WorkflowDefinition } from "stepfold";
export declare const nodeDefinitions: NodeDefinitions;
export declare const workflows: readonly WorkflowDefinition[];
`,
  "tasks.ts": `export declare const workflow: import("@trigger.dev/sdk").Task<string, import("stepfold/guest").GuestStart>;\n`,
  "neon.d.ts": `declare module "@neondatabase/serverless" {
  export function neon(url: string): { query(text: string, values?: unknown[]): Promise<Record<string, unknown>[]> };
}
`,
};
