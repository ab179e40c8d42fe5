import type { Duration } from "../core/definition.ts";
import { isJsonObject, type Json, type JsonObject, type JsonSchema } from "../core/json.ts";
import { defineNode } from "../engine/define-node.ts";
import type { NodeDefinition } from "../engine/node-definition.ts";

/** What an `approval` node is given. */
export interface ApprovalData {
  readonly title?: string | undefined;
  readonly message?: string | undefined;
  readonly approvers?: readonly string[] | undefined;
  readonly details?: Json | undefined;
  readonly timeout?: Duration | undefined;
  readonly schema?: JsonObject | undefined;
}

/** The answer, and the node's output. */
export interface ApprovalAnswer {
  readonly approved: boolean;
  readonly comment?: string | undefined;
  readonly by?: string | undefined;
  readonly [field: string]: Json | undefined;
}

const answerFields = {
  approved: { title: "Approved", description: "Whether it may go on", type: "boolean" },
  comment: { title: "Comment", description: "Why", type: "string" },
  by: { title: "By", description: "Who decided", type: "string" },
} satisfies JsonObject;

const answer: JsonObject = { title: "Decision", type: "object", properties: answerFields, required: ["approved"] };

/**
 * Node type `approval`: waits until somebody decides, then leaves by the handle `approved` or `rejected`. Its output is
 * the answer.
 *
 * The answer is `{ approved: boolean, comment?, by? }`; any other is refused with `RESUME_INVALID` and changes nothing.
 * With `schema`, an object schema, it may or must have fields of yours besides; a rejection must fit it too. The wait
 * carries the whole schema, so a form can be made from it, and the payload
 * `{ type: "approval", title, message, approvers, details }` to show. `approvers` is for that screen only: who may
 * answer is for whoever takes the answer to check.
 *
 * After `timeout` the path leaves by the handle `timeout`, else `error`, else the execution fails. Default: no timeout.
 *
 * ```ts
 * const approve = {
 *   id: "approve",
 *   type: "approval",
 *   data: { title: "Refund of {{ input.amount }}", approvers: ["finance"], timeout: "2 days" },
 * };
 * // later: await run.resume({ step: "approve", payload: { approved: true, by: "ada" } });
 * ```
 */
export const approvalNode: NodeDefinition<ApprovalData, ApprovalAnswer, ApprovalAnswer, "approved" | "rejected"> = defineNode<
  ApprovalData,
  ApprovalAnswer,
  ApprovalAnswer,
  "approved" | "rejected"
>({
  input: {
    title: "Approval",
    type: ["object", "null"],
    properties: {
      title: { title: "Title", description: "What is to be decided, in a few words", type: "string" },
      message: { title: "Message", description: "What whoever decides needs to know", type: "string" },
      approvers: {
        title: "Approvers",
        description: "Who is asked; shown, not enforced",
        type: "array",
        items: { type: "string", minLength: 1 },
      },
      details: { title: "Details", description: "Data to show beside the message" },
      timeout: { title: "Timeout", description: "How long an answer is good for: 2 days, PT5M, milliseconds", type: ["string", "number"] },
      schema: {
        title: "Schema",
        description: "JSON Schema of further fields of the answer",
        type: "object",
        properties: {
          type: { const: "object" },
          properties: { type: "object" },
          required: { type: "array", items: { type: "string" } },
        },
      },
    },
    additionalProperties: false,
  },
  resume: answer,
  handles: ["approved", "rejected"],
  metadata: {
    label: "Approval",
    icon: "user-check",
    description: "Waits until somebody approves or rejects",
    category: "people",
    example: { title: "Refund of {{ input.amount }}", approvers: ["finance"], timeout: "2 days" },
  },
  executor(data, step) {
    const given = step.externalPayload;
    if (given !== undefined) return { data: given, nextHandle: given.approved ? "approved" : "rejected" };
    const { title, message, approvers, details, timeout, schema } = data ?? {};
    return step.suspend({ type: "approval", title, message, approvers, details }, { timeout, schema: answerSchema(schema) });
  },
});

/** One flat object schema, not an `allOf`: forms can be made from it, and `additionalProperties: false` works. */
function answerSchema(further: JsonObject | undefined): JsonSchema {
  if (!further) return answer;
  const { properties, required } = further;
  return {
    ...answer,
    ...further,
    type: "object",
    properties: { ...(isJsonObject(properties) ? properties : {}), ...answerFields },
    required: [...new Set(["approved", ...(Array.isArray(required) ? (required as string[]) : [])])],
  };
}
