import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Claim, Commit, Lease } from "../../ports/snapshot-store.ts";
import { refuseOversize } from "../kit/value-limit.ts";
import { repeatedCreation } from "../kit/verdict.ts";
import { type WrittenCommit, writtenCommit } from "../kit/written-commit.ts";
import type { Verdict } from "../record/group-commit.ts";
import type { Connection } from "./connection.ts";
import { labelsOf } from "./labels.ts";
import { joined, plainText, wholeText } from "./plain-text.ts";
import { readGuard } from "./stored-guard.ts";
import { maxValueBytes } from "./write-commit.ts";

/** A new execution as rows of text: what the caller does with its values later does not matter. */
export interface Creation {
  readonly written: WrittenCommit;
  readonly commit: Commit;
  readonly lease: Lease | undefined;
  /** Who holds it from the beginning. */
  readonly held: Lease | null;
  /** Key and limit, as text. */
  readonly permit: readonly [string, string] | null;
  /** Of its definition: id, JSON; and JSON of its metadata. */
  readonly fixed: readonly [string, string, string];
  readonly labels: readonly string[];
}

/** @throws StepfoldError `LIMIT_EXCEEDED` */
export function acceptedCreation(commit: Commit, claim: Lease | undefined): Creation {
  const { metadata, definition, permit: asked } = commit.head;
  const written = writtenCommit(commit);
  refuseOversize("postgres", maxValueBytes, written);
  const fixed = [plainText(definition.id), JSON.stringify(definition), JSON.stringify(metadata)] as const;
  const permit = asked ? ([plainText(asked.key), wholeText(asked.limit)] as const) : null;
  const lease = permit ? undefined : claim;
  return { written, commit, lease, held: lease && !written.ended ? lease : null, permit, fixed, labels: labelsOf(metadata) };
}

/** Makes new executions, those without children in one statement, and says what became of each. */
export async function createExecutions(connection: Connection, creations: readonly Creation[]): Promise<Verdict<Claim | null>[]> {
  const together = creations.filter(({ written }) => written.children.length === 0);
  const made = together.length > 1 ? await createTogether(connection, together) : new Map<Creation, Claim | null>();
  return Promise.all(
    creations.map(async (creation): Promise<Verdict<Claim | null>> => {
      const claim = made.get(creation);
      if (claim !== undefined) return { value: claim };
      try {
        return { value: await createAlone(connection, creation) };
      } catch (refused) {
        // what the database itself refused may be the fault of another one in the group
        if (!StepfoldError.is(refused)) throw refused;
        return { refused };
      }
    }),
  );
}

/** Those that were made. */
async function createTogether(
  { askAnew, sql, retentionMs }: Connection,
  creations: readonly Creation[],
): Promise<Map<Creation, Claim | null>> {
  const column = (value: (creation: Creation) => string | number | null): string => joined(creations.map(value));
  const rows = <T>(of: (creation: Creation) => readonly T[]): { ordinal: number; row: T }[] =>
    creations.flatMap((creation, index) => of(creation).map((row) => ({ ordinal: index + 1, row })));
  const labels = rows(({ labels: own }) => own);
  const events = rows(({ written }) => written.events);
  const found = await askAnew(sql.createSeveral, [
    column(({ written }) => plainText(written.workflowId)),
    column(({ written }) => plainText(written.incarnation)),
    ...[0, 1, 2].map((index) => column(({ fixed }) => fixed[index]!)),
    column(({ written }) => written.version),
    column(({ written }) => written.status),
    column(({ written }) => written.head),
    column(({ written }) => (written.wakeAt === null ? null : wholeText(written.wakeAt))),
    column(({ held }) => held && plainText(held.owner)),
    column(({ held }) => held && wholeText(held.leaseMs)),
    column(({ written }) => plainText(written.commitId)),
    joined(labels.map(({ ordinal }) => ordinal)),
    joined(labels.map(({ row }) => row)),
    retentionMs,
    joined(events.map(({ ordinal }) => ordinal)),
    joined(events.map(({ row }) => row.version)),
    joined(events.map(({ row }) => row.text)),
    ...[0, 1].map((index) => column(({ permit }) => permit && permit[index]!)),
  ]);
  return new Map(
    found.map(({ ordinal, now }) => {
      const creation = creations[Number(ordinal) - 1]!;
      return [creation, claimOf(creation, Number(now))];
    }),
  );
}

async function createAlone(connection: Connection, creation: Creation): Promise<Claim | null> {
  const { ask, sql, retentionMs } = connection;
  const { written, commit, held, lease } = creation;
  const { workflowId } = written;
  const children = written.children.filter(({ text }) => text !== null);
  const values = [
    ...[plainText(workflowId), plainText(written.incarnation), ...creation.fixed],
    ...[joined(creation.labels), String(written.version), written.status, written.head],
    written.wakeAt === null ? null : wholeText(written.wakeAt),
    ...[held && plainText(held.owner), held && wholeText(held.leaseMs), retentionMs, plainText(written.commitId)],
    joined(written.events.map(({ version }) => version)),
    joined(written.events.map(({ text }) => text)),
    ...(creation.permit ?? [null, null]),
    ...(children.length > 0 ? [joined(children.map(({ key }) => JSON.stringify(key))), joined(children.map(({ text }) => text))] : []),
  ];
  for (;;) {
    const [created] = await ask(children.length > 0 ? sql.createWithChildren : sql.create, values);
    if (created) return claimOf(creation, Number(created.now));
    const { guard, leaseUntil, deletedAt, writer, now } = await readGuard(connection, workflowId, 0);
    // the claim is as old as its lease
    if (guard) return repeatedCreation(commit, guard, writer, lease, lease && leaseUntil !== null ? leaseUntil - lease.leaseMs : now);
    if (deletedAt !== null && deletedAt + Number(retentionMs) > now) {
      throw new StepfoldError("WORKFLOW_EXISTS", { workflowId, deletedAt });
    }
    // what stood in the way was forgotten in between
  }
}

function claimOf({ written, held }: Creation, claimedAt: EpochMs): Claim | null {
  const { workflowId, incarnation } = written;
  return held && { owner: held.owner, leaseMs: held.leaseMs, workflowId, incarnation, fence: 1, claimedAt, crashes: 0 };
}
