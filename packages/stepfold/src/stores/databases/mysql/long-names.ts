import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { WrittenCommit } from "../../kit/written-commit.ts";
import type { Creation } from "./write.ts";

/** What a column for a name holds: 255 characters of any kind. */
const maxNameBytes = 1020;

/**
 * Refuses names that their columns would cut off where the server is not strict.
 *
 * @throws StepfoldError `LIMIT_EXCEEDED`
 */
export function refuseLongNames({ workflowId, incarnation, commitId }: WrittenCommit, creation: Creation | undefined): void {
  refuseLongName("The id of an execution", workflowId);
  refuseLongName("The incarnation of an execution", incarnation);
  refuseLongName("The id of a commit", commitId);
  if (creation) refuseLongName("The id of a workflow", creation.definitionId);
  if (creation?.permit) refuseLongName("The key of a permit", creation.permit.key);
  if (creation?.lease) refuseLongName("The owner of a claim", creation.lease.owner);
}

/** @throws StepfoldError `LIMIT_EXCEEDED` */
export function refuseLongName(what: string, name: string): void {
  const actual = Buffer.byteLength(name);
  if (actual <= maxNameBytes) return;
  throw new StepfoldError("LIMIT_EXCEEDED", { what, limit: "mysql name in bytes", max: maxNameBytes, actual });
}
