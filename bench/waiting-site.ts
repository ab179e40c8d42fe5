import { Redis } from "ioredis";
import pg from "pg";
import { defineNode, type NodeDefinitions, type WorkflowDefinition } from "stepfold";
import { postgresFeed } from "stepfold/feeds/postgres";
import { redisFeed } from "stepfold/feeds/redis";
import type { EventFeed } from "stepfold/runtime";
import { postgresStore } from "stepfold/stores/postgres";
import { redisStore } from "stepfold/stores/redis";

/** The database for processes that wait for executions or drive them. */
export interface WaitingSite {
  readonly kind: "postgres" | "redis";
  readonly url: string;
  /** The name of the schema (PostgreSQL) or prefix (Redis), and of the feed's channel. */
  readonly name: string;
}

/** The store and feed of one process. */
export interface WaitingParts {
  readonly store: ReturnType<typeof postgresStore>;
  /** Makes a feed with connections of its own. */
  readonly feed: () => EventFeed;
  /** The number of statements and scripts that this process has sent. */
  readonly sent: () => number;
  readonly close: () => Promise<void>;
}

/** Opens a store whose statements are counted, and its feed. */
export async function openSite({ kind, url, name }: WaitingSite): Promise<WaitingParts> {
  let sent = 0;
  const counting = <C extends object>(client: C, methods: readonly (keyof C)[]): C => {
    for (const method of methods) {
      const call = client[method] as (...args: unknown[]) => unknown;
      client[method] = ((...args: unknown[]) => {
        sent++;
        return call.apply(client, args);
      }) as C[typeof method];
    }
    return client;
  };
  const feeds: EventFeed[] = [];
  const kept = (feed: EventFeed): EventFeed => {
    feeds.push(feed);
    return feed;
  };
  if (kind === "postgres") {
    const pool = counting(new pg.Pool({ connectionString: url, max: 10 }), ["query"]);
    const store = postgresStore(pool, { schema: name, migrate: true });
    await store.list({ limit: 1 });
    const feed = (): EventFeed => kept(postgresFeed(pool, () => new pg.Client({ connectionString: url }), { channel: name }));
    const close = async (): Promise<void> => {
      for (const one of feeds) await one.close();
      await store.close();
      await pool.end();
    };
    return { store, feed, sent: () => sent, close };
  }
  const client = counting(new Redis(url), ["evalsha", "eval", "publish"]);
  const store = redisStore(client, { prefix: name });
  const close = async (): Promise<void> => {
    for (const one of feeds) await one.close();
    await store.close();
    await client.quit();
  };
  return { store, feed: () => kept(redisFeed(client, { channel: name })), sent: () => sent, close };
}

/** The workflows: a question with one step after it, and a line of ten steps. */
export const waitingWorkflows: readonly WorkflowDefinition[] = [
  {
    id: "ask",
    nodes: [
      { id: "ask", type: "ask" },
      { id: "after", type: "after" },
    ],
    edges: [{ source: "ask", target: "after" }],
  },
  {
    id: "ten",
    nodes: Array.from({ length: 10 }, (_, i) => ({ id: `n${i}`, type: "work" })),
    edges: Array.from({ length: 9 }, (_, i) => ({ source: `n${i}`, target: `n${i + 1}` })),
  },
];

/**
 * The node definitions of these workflows.
 * @param onStep is called when a step begins, except for a question
 */
export function waitingNodes(onStep: (workflowId: string, nodeId: string) => void): NodeDefinitions {
  const working = defineNode({
    executor: async (_data, step) => {
      onStep(step.workflowId, step.nodeId);
      return { data: { ok: true } };
    },
  });
  return {
    ask: defineNode({ executor: (_data, step) => (step.resumed ? { data: null } : step.suspend("May I?")) }),
    after: working,
    work: working,
  } as NodeDefinitions;
}
