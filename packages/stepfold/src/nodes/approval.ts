import { isJsonObject } from "../core/values/json.ts";
import { defineNode } from "../engine/node/define-node.ts";
import type { NodeDefinition, NodeOutput } from "../engine/node/node-definition.ts";
import { type ApprovalAnswer, type ApprovalData, type ApprovalResult, answerSchema, plainAnswerSchema } from "./data/approval-data.ts";

/**
 * Node type `approval`: waits for a decision, then leaves by the handle `approved` or `rejected`. Its output is the answer.
 *
 * The answer is `{ approved: boolean, comment? }`; it may have other fields. An answer without a boolean `approved`, or with a `comment`
 * that is not text, is refused with `RESUME_INVALID` and changes nothing. In the output, `by` is the name that the resume gave. A `by`
 * in the payload is left out, because anybody could write it.
 * With `schema`, an object schema, these other fields are checked too, also those of a rejection. The wait carries the
 * whole schema, so that a form can be made from it, and the payload `{ type: "approval", title, message, approvers, details }` to show
 * to people. `approvers` is only for that display. Default: the responders.
 *
 * With `responders`, only these people may answer, each under the name that the resume gives as `by`. All others, and a resume without
 * `by`, are refused with `RESPONDER_DENIED`. Default: anybody may answer.
 *
 * With `quorum`, that many different people must approve, and the output is `{ approved, answers }`. An answer with `approved: false`
 * is a rejection. The wait ends as soon as the outcome is certain. It is approved with `quorum` approvals. It is rejected when too few
 * responders are left to reach the quorum or, if anybody may answer, with `quorum` rejections. Nobody can answer twice, so each resume
 * must give a `by`. A quorum above the number of responders (1,000 if anybody may answer) fails the node with `OPTION_INVALID`.
 *
 * After `timeout`, or the `timeout` of the node if that is shorter, the path leaves by the handle `timeout`, or else by `error`; without both,
 * the execution fails. Default: no timeout.
 *
 * ```ts
 * const approve = {
 *   id: "approve",
 *   type: "approval",
 *   data: { title: "Refund of {{ input.amount }}", responders: ["ada", "bob", "cy"], quorum: 2, timeout: "2 days" },
 * };
 * // later: await run.resume({ step: "approve", payload: { approved: true }, by: "ada" });
 * ```
 */
export const approvalNode: NodeDefinition<ApprovalData | null, ApprovalAnswer | ApprovalResult, ApprovalAnswer, "approved" | "rejected"> =
  defineNode<ApprovalData | null, ApprovalAnswer | ApprovalResult, ApprovalAnswer, "approved" | "rejected">({
    input: {
      title: "Approval",
      type: ["object", "null"],
      properties: {
        title: { title: "Title", description: "What is to be decided, in a few words", type: "string" },
        message: { title: "Message", description: "What the approvers need to know to decide", type: "string" },
        approvers: {
          title: "Approvers",
          description: "The people who are asked; only shown, not enforced. Default: the responders",
          type: "array",
          items: { type: "string", minLength: 1 },
        },
        responders: {
          title: "Responders",
          description: "The people who may answer; answers of others are refused. Default: anybody may answer",
          type: "array",
          items: { type: "string", minLength: 1, maxLength: 1_000 },
          minItems: 1,
          maxItems: 1_000,
        },
        quorum: {
          title: "Quorum",
          description: "How many have to approve. Default: the first answer decides",
          type: "integer",
          minimum: 1,
        },
        details: { title: "Details", description: "Data to show beside the message" },
        timeout: {
          title: "Timeout",
          description: "How long to wait for an answer: 2 days, PT5M, milliseconds",
          type: ["string", "number"],
        },
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
    resume: plainAnswerSchema,
    handles: ["approved", "rejected"],
    waits: true,
    outcomes: ["approved", "rejected"],
    pointless: ["retryPolicy", "heartbeatTimeout"],
    durations: ["timeout"],
    guards: ["responders", "quorum", "timeout", "schema"],
    metadata: {
      label: "Approval",
      icon: "user-check",
      description: "Waits until somebody approves or rejects",
      category: "people",
      example: { title: "Refund of {{ input.amount }}", approvers: ["finance"], timeout: "2 days" },
    },
    executor(data, step) {
      const { title, message, details, timeout, schema, responders, quorum, approvers = responders } = data ?? {};
      const given = step.externalPayload;
      if (given === undefined) {
        const shown = { type: "approval", title, message, approvers, details };
        return step.suspend(shown, { timeout, schema: answerSchema(schema), responders, quorum, tally: "approved" });
      }
      const answers = step.resumed?.answers;
      if (!answers) return leave(signedBy(step.resumed?.who, given));
      const approvals = answers.filter(({ payload }) => isJsonObject(payload) && payload.approved === true).length;
      return leave({ approved: approvals >= (quorum ?? 1), answers });
    },
  });

/** Returns the answer with the name that the resume gave. A name in the payload proves nothing, so it is left out. */
function signedBy(who: string | undefined, { by: _claimed, ...answer }: ApprovalAnswer): ApprovalAnswer {
  return { ...(answer as ApprovalAnswer), ...(who !== undefined && { by: who }) };
}

function leave<Result extends { readonly approved: boolean }>(data: Result): NodeOutput<Result, "approved" | "rejected"> {
  return { data, nextHandle: data.approved ? "approved" : "rejected" };
}
