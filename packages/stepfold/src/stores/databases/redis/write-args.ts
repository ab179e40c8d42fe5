import type { Commit, Lease } from "../../../ports/snapshot-store.ts";
import { type WrittenCommit, writtenCommit } from "../../kit/written-commit.ts";
import { eventRow } from "./redis-reply.ts";

/** A write as the script takes it. */
export interface Write {
  readonly written: WrittenCommit;
  /** Of a creation that asks for a claim. */
  readonly lease: Lease | undefined;
  readonly isCreation: boolean;
  readonly args: readonly string[];
  /** Length of all of them. */
  readonly size: number;
}

/** Writes a commit down for the script: its values become text at once. */
export function changeOf(commit: Commit): Write {
  return writeOf(writtenCommit(commit), undefined, null);
}

/** Writes a new execution down for the script. */
export function creationOf(commit: Commit, lease: Lease | undefined): Write {
  const { definition, metadata, permit } = commit.head;
  const fields = ["definitionId", definition.id, "definition", JSON.stringify(definition), "metadata", JSON.stringify(metadata)];
  for (const [key, value] of Object.entries(metadata)) {
    if (value !== undefined && (typeof value !== "object" || value === null)) fields.push(metadataField(key), JSON.stringify(value));
  }
  // one that has to wait for its turn is not claimed with its creation
  if (permit) return writeOf(writtenCommit(commit), undefined, fields, `${permit.limit}:${permit.key}`);
  return writeOf(writtenCommit(commit), lease, fields);
}

/** Where a value of the metadata that a list can ask for lies beside the whole: it is compared as text there. */
export function metadataField(key: string): string {
  return `m:${key}`;
}

function writeOf(written: WrittenCommit, lease: Lease | undefined, fields: readonly string[] | null, permit = ""): Write {
  const { commitId, incarnation, expectedVersion, fence, version, status, head, ended, wakeAt, frees, events, children } = written;
  const flag = (value: boolean): string => (value ? "1" : "");
  const many = (values: readonly string[]): string[] => [String(values.length), ...values];
  const args = [
    ...[fields ? "create" : "commit", JSON.stringify(commitId), incarnation, String(expectedVersion)],
    ...[
      fence === null ? "" : String(fence),
      String(version),
      status,
      head,
      flag(ended),
      wakeAt === null ? "" : String(wakeAt),
      flag(frees),
    ],
    ...many(events.map(({ text }) => eventRow(commitId, text))),
    ...many(children.flatMap(({ key, text, last }) => [`=${key}`, flag(last), text ?? ""])),
    ...(fields ? [lease?.owner ?? "", String(lease?.leaseMs ?? 0), permit, ...many(fields)] : []),
  ];
  return { written, lease, isCreation: fields !== null, args, size: args.reduce((sum, arg) => sum + arg.length, 0) };
}
