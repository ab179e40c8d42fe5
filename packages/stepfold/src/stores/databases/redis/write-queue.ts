import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Claim, Commit, Lease } from "../../../ports/snapshot-store.ts";
import { refusal, repeatedCreation } from "../../kit/verdict.ts";
import { groupCommit, type Verdict } from "../../record/group-commit.ts";
import { isOutage } from "./redis-error.ts";
import { guardOf, listOf, said } from "./redis-reply.ts";
import { damaged, type ScriptStore } from "./script-store.ts";
import { changeOf, creationOf, type Write } from "./write-args.ts";
import { writeScript } from "./write-script.ts";

/** A script stands in everybody's way while it runs: so many writes, or so much text, at most in one. */
const mostWrites = 50;
const mostText = 1_000_000;

/** Writes of different executions that share a round trip. */
export interface WriteQueue {
  create(commit: Commit, lease: Lease | undefined): Promise<Claim | null>;
  commit(commit: Commit): Promise<void>;
  /** Resolves when what was issued for this execution has its verdict. */
  settled(workflowId: string): Promise<void>;
  /** Resolves when everything has. */
  idle(): Promise<void>;
}

/** A queue before one server. */
export function writeQueue(store: ScriptStore): WriteQueue {
  const latest = new Map<string, Promise<unknown>>();
  const group = groupCommit<Write, Claim | null>({
    send: async (writes) => (await Promise.all(portionsOf(writes).map((portion) => send(store, portion)))).flat(),
    idOf: ({ written }) => written.workflowId,
    isOutage: (cause) => isOutage(store.name, cause),
    mostTogether: mostWrites,
  });
  const add = (write: Write): Promise<Claim | null> => {
    store.refuseOversize(write);
    const { workflowId } = write.written;
    const verdict = group.add(write);
    latest.set(workflowId, verdict);
    const forget = (): void => {
      if (latest.get(workflowId) === verdict) latest.delete(workflowId);
    };
    verdict.then(forget, forget);
    return verdict;
  };
  return {
    create: async (commit, lease) => add(creationOf(commit, lease)),
    commit: async (commit) => {
      await add(changeOf(commit));
    },
    settled: async (workflowId) => {
      await Promise.allSettled([latest.get(workflowId)]);
    },
    idle: () => group.idle(),
  };
}

/** Most groups are one; large writes go in calls of their own. */
function portionsOf(writes: readonly Write[]): Write[][] {
  const portions: Write[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const write of writes) {
    if (size + write.size > mostText) {
      portions.push([]);
      size = 0;
    }
    portions.at(-1)!.push(write);
    size += write.size;
  }
  return portions;
}

async function send({ name, keys, run }: ScriptStore, writes: readonly Write[]): Promise<Verdict<Claim | null>[]> {
  const heads = writes.map(({ written }) => keys.head(written.workflowId));
  const args = writes.flatMap((write) => write.args);
  const replies = listOf(await run(writeScript, [keys.due, ...heads], args));
  return writes.map((write, index) => {
    try {
      return { value: verdictOf(name, write, listOf(replies[index])) };
    } catch (refused) {
      return { refused };
    }
  });
}

function verdictOf(store: string, { written, lease, isCreation }: Write, [sign, ...rest]: readonly unknown[]): Claim | null {
  const { workflowId, incarnation, commitId, ended } = written;
  switch (said(sign)) {
    case "+": {
      if (!lease || ended) return null;
      return {
        workflowId,
        incarnation,
        owner: lease.owner,
        leaseMs: lease.leaseMs,
        fence: 1,
        claimedAt: Number(said(rest[0])),
        crashes: 0,
      };
    }
    case "-": {
      const guard = guardOf(rest);
      const writer = said(rest[5]) === null ? null : commitId;
      // the claim of then: it was made so long before its lease ends
      if (isCreation) return repeatedCreation(written, guard!, writer, lease, Number(said(rest[6])) - (lease?.leaseMs ?? 0));
      const refused = refusal(written, guard, writer);
      if (refused) throw refused;
      return null;
    }
    case "buried":
      throw new StepfoldError("WORKFLOW_EXISTS", { workflowId, deletedAt: Number(said(rest[0])) });
    default:
      throw damaged(store, workflowId);
  }
}
