import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Status } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Claim, Commit, Lease } from "../../ports/snapshot-store.ts";
import type { LibsqlResult, LibsqlRow, LibsqlStatement } from "../databases/libsql/libsql-client.ts";
import { refuseOversize } from "../kit/value-limit.ts";
import { type Guard, keptClaim, refusal, repeatedCreation } from "../kit/verdict.ts";
import { type WrittenCommit, writtenCommit } from "../kit/written-commit.ts";
import type { Verdict } from "../record/group-commit.ts";
import type { Connection } from "./connection.ts";
import { sql } from "./statements.ts";

/** SQLite's limit of a text or a row is a billion bytes. */
const maxBytes = 900_000_000;

/** One write: its statements, and what their results say. The last ones tell what is stored now. */
export interface Write {
  readonly workflowId: string;
  readonly statements: (time: EpochMs | null) => LibsqlStatement[];
  /** Null: it has no result. */
  readonly verdict: (results: readonly LibsqlResult[]) => Claim | null;
}

/** The write of a commit. Its values become text at once: what the caller does with them later does not matter. */
export function change(commit: Commit): Write {
  const written = writtenCommit(commit);
  refuseOversize("libsql", maxBytes, written);
  const { workflowId, incarnation, expectedVersion, fence, version, status, head, wakeAt, frees, commitId } = written;
  const guard = [workflowId, incarnation, expectedVersion, fence] as const;
  return {
    workflowId,
    statements: (time) => [
      ...written.children.flatMap(({ key, text, last }) => [
        ...(text === null || last ? [sql.deleteChild(...guard, key)] : []),
        ...(text === null ? [] : [sql.putChild(...guard, key, text)]),
      ]),
      ...written.events.map((event) => sql.appendEvent(...guard, event.version, commitId, event.text)),
      // now the row that all of them asked for; that the status is often the same would be worth a statement, but not its bytes
      sql.change(version, head, wakeAt, time, status, fence, frees ? 1 : 0, workflowId, incarnation, expectedVersion),
      sql.verdict(workflowId, expectedVersion + 1, time),
    ],
    verdict: (results) => {
      const row = results.at(-1)!.rows[0];
      const refused = refusal(written, row ? guardOf(row) : null, row ? writerOf(row) : null);
      if (refused) throw refused;
      return null;
    },
  };
}

/** The write of a new execution. */
export function creation(commit: Commit, wanted: Lease | undefined, retentionMs: number): Write {
  const { permit } = commit.head;
  const lease = permit ? undefined : wanted;
  const written = writtenCommit(commit);
  refuseOversize("libsql", maxBytes, written);
  const { workflowId, incarnation, ended, version, status, head, wakeAt, commitId } = written;
  const { id: definitionId } = commit.head.definition;
  const fixed = [definitionId, JSON.stringify(commit.head.definition), JSON.stringify(commit.head.metadata)] as const;
  const held = lease && !ended ? lease : null;
  return {
    workflowId,
    statements: (time) => [
      sql.forgetOne(workflowId, retentionMs, time),
      sql.createExecution(
        ...[workflowId, incarnation, ...fixed, version, status, head],
        ...[wakeAt, held?.owner ?? null, held?.leaseMs ?? null, time, permit?.key ?? null, permit?.limit ?? null],
      ),
      ...childrenOf(written),
      // the first event is the last to come: with it the execution is there, and what is sent again finds it so
      ...written.events.toReversed().map((event) => sql.createEvent(workflowId, incarnation, event.version, commitId, event.text)),
      sql.tombstone(workflowId),
      sql.verdict(workflowId, 0, time),
    ],
    verdict: (results) => {
      const row = results.at(-1)!.rows[0];
      if (row) return repeatedCreation(commit, guardOf(row), writerOf(row), lease, claimedAt(row, lease));
      throw new StepfoldError("WORKFLOW_EXISTS", { workflowId, deletedAt: Number(results.at(-2)!.rows[0]?.deletedAt) });
    },
  };
}

/** The write that gives a claim back. It keeps its place among the commits of its execution. */
export function releasing(claim: Claim, version: number): Write {
  const { workflowId, incarnation, fence } = claim;
  return {
    workflowId,
    statements: (time) => [sql.release(workflowId, incarnation, fence, version, time), sql.execution(workflowId)],
    verdict: (results) => {
      const row = results.at(-1)!.rows[0];
      // after it was released nobody holds it
      keptClaim(claim, version, row ? guardOf(row) : null);
      return null;
    },
  };
}

/** Sends writes in one transaction, each with a verdict of its own. */
export async function sendTogether(connection: Connection, writes: readonly Write[]): Promise<Verdict<Claim | null>[]> {
  const time = connection.time();
  const parts = writes.map((write) => write.statements(time));
  const results = await connection.write(parts.flat());
  let at = 0;
  return writes.map((write, index) => {
    const own = results.slice(at, at + parts[index]!.length);
    at += own.length;
    try {
      return { value: write.verdict(own) };
    } catch (refused) {
      return { refused };
    }
  });
}

/** A row as what guards an execution. */
export function guardOf({ incarnation, version, status, owner, fence }: LibsqlRow): Guard {
  return {
    incarnation: incarnation as string,
    version: Number(version),
    status: status as Status,
    owner: owner as string | null,
    fence: Number(fence),
  };
}

/** When the claim that a creation came with began. */
function claimedAt({ leaseUntil, now }: LibsqlRow, lease: Lease | undefined): EpochMs {
  return lease && leaseUntil !== null ? Number(leaseUntil) - lease.leaseMs : Number(now);
}

function writerOf({ writer }: LibsqlRow): string | null {
  return writer as string | null;
}

function childrenOf({ workflowId, incarnation, children }: WrittenCommit): LibsqlStatement[] {
  return children.flatMap(({ key, text }) => (text === null ? [] : [sql.createChild(workflowId, incarnation, key, text)]));
}
