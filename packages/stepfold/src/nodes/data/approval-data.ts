import type { Answer } from "../../core/snapshot/parts/wait.ts";
import type { Duration } from "../../core/values/duration.ts";
import { isJsonObject, type Json, type JsonObject, type JsonSchema } from "../../core/values/json.ts";

/** The data (input) of an `approval` node. */
export interface ApprovalData {
  /** What is to be decided, in a few words. */
  readonly title?: string | undefined;
  /** What the approvers need to know to decide. */
  readonly message?: string | undefined;
  /** The names to show as the people who are asked. Anybody may still answer: only `responders` is enforced. Default: `responders`. */
  readonly approvers?: readonly string[] | undefined;
  /** The names of the people who may answer; answers of all others are refused. Default: anybody may answer. */
  readonly responders?: readonly string[] | undefined;
  /** How many people must approve. Default: the first answer decides. */
  readonly quorum?: number | undefined;
  /** Data to show beside the message. */
  readonly details?: Json | undefined;
  /** How long the node waits for an answer. Default: without a limit. */
  readonly timeout?: Duration | undefined;
  /** An object schema with further fields of the answer; see `answerSchema`. Default: the answer has `approved` and `comment`. */
  readonly schema?: JsonObject | undefined;
}

/** The answer to an approval. It is also the node's output, unless the node has a `quorum`. */
export interface ApprovalAnswer {
  readonly approved: boolean;
  readonly comment?: string | undefined;
  /** The name that the resume gave; only in the output. A `by` in the answer itself is left out, because anybody could write it. */
  readonly by?: string | undefined;
  readonly [field: string]: Json | undefined;
}

/** The output of a node that has a `quorum`. */
export interface ApprovalResult {
  /** True if the quorum was reached. */
  readonly approved: boolean;
  /** Every answer, the oldest first: `by`, `at` in milliseconds since 1970, and the answer as `payload`. */
  readonly answers: readonly Answer[];
}

/** The fields of every answer. A form that is made from the schema shows these texts to the person who answers. */
const answerFields = {
  approved: { title: "Approved", description: "Yes to approve, no to reject", type: "boolean" },
  comment: { title: "Comment", description: "Reasons for the decision", type: "string" },
} satisfies JsonObject;

/** The schema of an answer if the author of the workflow gives none. */
export const plainAnswerSchema: JsonObject = { title: "Decision", type: "object", properties: answerFields, required: ["approved"] };

/**
 * Returns the schema of an answer, with the additions of the workflow's author. The author cannot change `type`, `approved` and
 * `comment`; a `title` of the author replaces "Decision". The two schemas are merged into one flat object schema and not combined by
 * `allOf`, so that forms can be made from it and `additionalProperties: false` works.
 *
 * @param authored the author's object schema
 */
export function answerSchema(authored: JsonObject | undefined): JsonSchema {
  if (!authored) return plainAnswerSchema;
  const { properties, required } = authored;
  return {
    ...plainAnswerSchema,
    ...authored,
    type: "object",
    properties: { ...(isJsonObject(properties) ? properties : {}), ...answerFields },
    required: [...new Set(["approved", ...(Array.isArray(required) ? (required as string[]) : [])])],
  };
}
