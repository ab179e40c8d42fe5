import type { Answer } from "../../core/snapshot/snapshot.ts";
import type { Duration } from "../../core/values/duration.ts";
import { isJsonObject, type Json, type JsonObject, type JsonSchema } from "../../core/values/json.ts";

/** What an `approval` node is given. */
export interface ApprovalData {
  readonly title?: string | undefined;
  readonly message?: string | undefined;
  readonly approvers?: readonly string[] | undefined;
  readonly responders?: readonly string[] | undefined;
  readonly quorum?: number | undefined;
  readonly details?: Json | undefined;
  readonly timeout?: Duration | undefined;
  readonly schema?: JsonObject | undefined;
}

/** The answer, and without a quorum the node's output. */
export interface ApprovalAnswer {
  readonly approved: boolean;
  readonly comment?: string | undefined;
  /** In the output: the name that the resume gave. */
  readonly by?: string | undefined;
  readonly [field: string]: Json | undefined;
}

/** The node's output with a quorum. */
export interface ApprovalResult {
  /** True if the quorum was reached. */
  readonly approved: boolean;
  /** All that came, in the order in which they came: `by`, `at` in milliseconds since 1970, and the answer as `payload`. */
  readonly answers: readonly Answer[];
}

const answerFields = {
  approved: { title: "Approved", description: "Whether it may go on", type: "boolean" },
  comment: { title: "Comment", description: "Why", type: "string" },
} satisfies JsonObject;

/** An answer without fields of yours. */
export const plainAnswerSchema: JsonObject = { title: "Decision", type: "object", properties: answerFields, required: ["approved"] };

/** One flat object schema, not an `allOf`: forms can be made from it, and `additionalProperties: false` works. */
export function answerSchema(further: JsonObject | undefined): JsonSchema {
  if (!further) return plainAnswerSchema;
  const { properties, required } = further;
  return {
    ...plainAnswerSchema,
    ...further,
    type: "object",
    properties: { ...(isJsonObject(properties) ? properties : {}), ...answerFields },
    required: [...new Set(["approved", ...(Array.isArray(required) ? (required as string[]) : [])])],
  };
}
