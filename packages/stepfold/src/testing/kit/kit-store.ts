import type { Commit, SnapshotStore } from "../../ports/snapshot-store.ts";
import type { Executions } from "./executions.ts";
import type { KitProcess } from "./kit-clock.ts";

/** What a test does with the writes of a process. */
export interface KitStoreHooks {
  readonly executions: Executions;
  /** Called after each commit; the process goes on when it resolves. */
  readonly committed: (commit: Commit) => Promise<void>;
  /** Called with each definition that executions refer to. */
  readonly defined: (hash: string, definition: unknown) => void;
}

const never: Promise<never> = new Promise(() => undefined);

/** The store as one process of a test sees it. A process that is dead gets no answers, and its calls do not come to the store. */
export function kitStore(store: SnapshotStore, process: KitProcess, hooks: KitStoreHooks): SnapshotStore {
  const call = async <T>(serve: () => Promise<T>): Promise<T> => {
    if (!process.isAlive) return never;
    const end = process.activity.begin();
    try {
      const answer = await serve();
      return process.isAlive ? answer : await never;
    } catch (error) {
      if (!process.isAlive) return await never;
      throw error;
    } finally {
      end();
    }
  };
  const changed = changedMembers(store, hooks);
  return new Proxy(store, {
    get(target, key) {
      const member: unknown = Object.hasOwn(changed, key) ? changed[key as keyof SnapshotStore] : Reflect.get(target, key);
      return typeof member === "function" ? (...given: unknown[]) => call(async () => member.apply(target, given)) : member;
    },
  });
}

function changedMembers(store: SnapshotStore, { executions, committed, defined }: KitStoreHooks): Partial<SnapshotStore> {
  return {
    async create(commit, options) {
      const claim = await store.create(commit, options);
      executions.add(commit);
      if (claim) executions.claimed([claim]);
      await committed(commit);
      return claim;
    },
    async commit(commit) {
      await store.commit(commit);
      executions.add(commit);
      await committed(commit);
    },
    async claim(options) {
      const claims = await store.claim(options);
      executions.claimed(claims);
      return claims;
    },
    async release(claim, version) {
      await store.release(claim, version);
      executions.released(claim.workflowId);
    },
    putDefinition(hash, definition, options) {
      defined(hash, definition);
      return store.putDefinition(hash, definition, options);
    },
  };
}
