import type { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Commit } from "../../ports/snapshot-store.ts";
import { refuseOversize } from "../kit/value-limit.ts";
import { refusal } from "../kit/verdict.ts";
import { type WrittenCommit, writtenCommit } from "../kit/written-commit.ts";
import type { Verdict } from "../record/group-commit.ts";
import type { Connection } from "./connection.ts";
import { joined, plainText, wholeText } from "./plain-text.ts";
import { readGuard } from "./stored-guard.ts";

/** Of one value. PostgreSQL takes a gigabyte in one message, of which a history must be loaded in one row. */
export const maxValueBytes: number = 16 * 1024 * 1024;

/**
 * A commit as rows of text.
 *
 * @throws StepfoldError `LIMIT_EXCEEDED`
 */
export function acceptedCommit(commit: Commit): WrittenCommit {
  const written = writtenCommit(commit);
  refuseOversize("postgres", maxValueBytes, written);
  return written;
}

/** Makes commits of different executions in one statement, and says what became of each. */
export async function writeCommits(connection: Connection, commits: readonly WrittenCommit[]): Promise<Verdict<void>[]> {
  const { ask, askAnew, sql } = connection;
  const several = commits.length > 1;
  const children = commits.some((commit) => commit.children.length > 0);
  const values = [...(several ? headsOf(commits) : headOf(commits[0]!)), ...eventsOf(commits), ...(children ? childrenOf(commits) : [])];
  const rows = await (several ? askAnew : ask)(sql.commit({ several, children }), values);
  const made = new Set(rows.map(({ ordinal }) => Number(ordinal)));
  return Promise.all(commits.map(async (commit, index) => (made.has(index + 1) ? done : verdictOn(connection, commit))));
}

const done: Verdict<void> = { value: undefined };

/** Why the guard held a commit back; if it was applied before, that is no reason. */
async function verdictOn(connection: Connection, commit: WrittenCommit): Promise<Verdict<void>> {
  const { guard, writer } = await readGuard(connection, commit.workflowId, commit.expectedVersion + 1);
  const refused: StepfoldError | null = refusal(commit, guard, writer);
  return refused ? { refused } : done;
}

function headOf({
  workflowId,
  incarnation,
  expectedVersion,
  fence,
  version,
  status,
  head,
  wakeAt,
  frees,
  commitId,
}: WrittenCommit): (string | null)[] {
  return [
    ...[plainText(workflowId), plainText(incarnation), String(expectedVersion), fence === null ? null : String(fence), String(version)],
    ...[status, head, wakeAt === null ? null : wholeText(wakeAt), frees ? "t" : "f", plainText(commitId)],
  ];
}

/** The same, column by column. */
function headsOf(commits: readonly WrittenCommit[]): string[] {
  const heads = commits.map(headOf);
  return heads[0]!.map((_, column) => joined(heads.map((head) => head[column]!)));
}

function eventsOf(commits: readonly WrittenCommit[]): string[] {
  const rows = commits.flatMap(({ events }, index) => events.map(({ version, text }) => ({ ordinal: index + 1, version, text })));
  return [joined(rows.map(({ ordinal }) => ordinal)), joined(rows.map(({ version }) => version)), joined(rows.map(({ text }) => text))];
}

function childrenOf(commits: readonly WrittenCommit[]): string[] {
  const rows = commits.flatMap(({ children }, index) => children.map((child) => ({ ...child, ordinal: index + 1 })));
  return [
    joined(rows.map(({ ordinal }) => ordinal)),
    joined(rows.map(({ key }) => JSON.stringify(key))),
    joined(rows.map(({ text }) => text)),
    joined(rows.map(({ last }) => (last ? "t" : "f"))),
  ];
}
