import type { Permit } from "../../../core/snapshot/snapshot.ts";
import type { Commit, Lease } from "../../../ports/snapshot-store.ts";
import { type WrittenCommit, writtenCommit } from "../../kit/written-commit.ts";

/** A commit, written down; with `creation` that of a new execution. */
export interface Write {
  readonly written: WrittenCommit;
  readonly creation?: Creation;
}

/** What only the first commit of an execution says. */
export interface Creation {
  readonly definitionId: string;
  /** JSON. */
  readonly definition: string;
  /** JSON. */
  readonly metadata: string;
  readonly lease: Lease | undefined;
  readonly permit: Permit | undefined;
}

/** A write that creates an execution. */
export type NewExecution = Write & { readonly creation: Creation };

/** The write of a first commit. */
export function creationOf(commit: Commit, wanted: Lease | undefined): NewExecution {
  const { definition, metadata, permit } = commit.head;
  const lease = permit ? undefined : wanted;
  const texts = { definition: JSON.stringify(definition), metadata: JSON.stringify(metadata) };
  return { written: writtenCommit(commit), creation: { definitionId: definition.id, ...texts, lease, permit } };
}
