import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Status } from "../../../core/snapshot/snapshot.ts";
import type { RowAnswer, RowWrite } from "../../kit/execution-table.ts";
import { bytesOf } from "../../kit/writing/value-limit.ts";
import { replyList, said } from "./redis-reply.ts";
import type { CallScript } from "./run-script.ts";
import { writeArgs } from "./write-args.ts";
import { writeScript } from "./write-script.ts";

/** Nothing else runs on the server during a script: so many writes, or about so much text, at most in one. */
export const maxWrites = 50;
const maxTextLength = 1_000_000;

interface SentWrite {
  readonly write: RowWrite;
  readonly args: readonly string[];
}

/** What a server takes. */
export interface WriteLimits {
  /** Name of the store. */
  readonly name: string;
  /** After so long the server forgets a tombstone by itself. */
  readonly retentionMs: string;
  /** Largest write, in bytes of the JSON that it travels in. */
  readonly maxRequestBytes: number;
}

/** Makes writes. Most groups are one script; large writes go in scripts of their own, and what is too large is not sent. */
export async function sendWrites(call: CallScript, writes: readonly RowWrite[], limits: WriteLimits): Promise<RowAnswer[]> {
  const answers = new Map<RowWrite, RowAnswer>();
  const portions: SentWrite[][] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const write of writes) {
    const args = writeArgs(write, limits.retentionMs);
    const ownLength = args.reduce((sum, arg) => sum + arg.length, 0);
    const refused = refusalOf(write.id, args, ownLength, limits);
    if (refused) answers.set(write, refused);
    if (refused) continue;
    if (length + ownLength > maxTextLength) {
      portions.push([]);
      length = 0;
    }
    portions.at(-1)!.push({ write, args });
    length += ownLength;
  }
  const send = async (portion: readonly SentWrite[]): Promise<void> => {
    const ids = portion.map(({ write }) => write.id);
    const args = portion.flatMap((one) => one.args);
    const replies = await call(writeScript, ids, args);
    for (const [index, { write }] of portion.entries()) answers.set(write, answerOf(write, replyList(replies[index]), limits));
  };
  await Promise.all(portions.map(send));
  return writes.map((write) => answers.get(write) ?? null);
}

/** Why a write does not fit into one request. JSON in JSON grows, sixfold at most. */
function refusalOf(
  workflowId: string,
  args: readonly string[],
  length: number,
  { name, maxRequestBytes: max }: WriteLimits,
): StepfoldError | null {
  if (length * 6 <= max) return null;
  const actual = bytesOf(JSON.stringify(args));
  if (actual <= max) return null;
  const what = `A commit of execution "${workflowId}"`;
  return new StepfoldError("LIMIT_EXCEEDED", { what, limit: `${name} request in bytes`, max, actual });
}

function answerOf(write: RowWrite, reply: readonly unknown[], { name: store }: WriteLimits): RowAnswer {
  const [now, version, status] = reply.map(said);
  if (now === "damaged") {
    return new StepfoldError("STORE_REJECTED", { store, reason: `what is stored of execution "${write.id}" is damaged` });
  }
  if (now == null) return null;
  const before = { version: Number(version), status: status as Status };
  const after = write.kind === "insert" ? write.row : write.kind === "update" ? (write.set.state ?? before) : before;
  return { now: Number(now), version: after.version, status: after.status };
}
