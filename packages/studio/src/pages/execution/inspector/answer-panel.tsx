import { type ReactNode, useMemo } from "react";
import { isJsonObject, type Json, type JsonSchema, type WaitInfo } from "stepfold/core";
import { useStudio } from "../../../app/studio-context.ts";
import { SchemaForm } from "../../../form/schema-form.tsx";
import { answerRefusal } from "../../../model/places.ts";
import { cutBytes } from "../../../model/value/json-tree.ts";
import { questionText } from "../../../model/value/question-text.ts";
import { scopeReason } from "../../../session/scopes.ts";
import { Notice } from "../../../ui/feedback/notice.tsx";
import layout from "../../../ui/layout.module.css";
import { LongText } from "../../../ui/text/long-text.tsx";
import { useNow } from "../../../ui/text/now.tsx";
import { countText, nounText } from "../../../ui/text/number-text.ts";
import { ClockTime, Countdown, ShortTime } from "../../../ui/text/time.tsx";
import { useShown } from "../execution-context.ts";
import { JsonView } from "../tabs/json-view.tsx";
import styles from "./panel.module.css";
import { ErrorLines, Section } from "./step-panels.tsx";

/** The decisions about a step that has failed for good. The engine's own schema says the same without words. */
const incidentSchema: JsonSchema = {
  type: "object",
  properties: {
    action: {
      title: "Decision",
      oneOf: [
        { const: "retry", title: "Retry" },
        { const: "skip", title: "Skip" },
        { const: "fail", title: "Fail" },
      ],
      description: "Retry: it is performed again, with all its attempts. Skip: it counts as completed. Fail: the execution fails.",
    },
    output: { title: "Output", description: "With skip: the output of the step. Default null" },
  },
  required: ["action"],
};

/** The schema of an answer, with words where the engine has none. */
export function answerSchema({ kind, schema }: Pick<WaitInfo, "kind" | "schema">): JsonSchema | undefined {
  return kind === "incident" ? incidentSchema : schema;
}

/** One open wait: what is asked, until when, and the form that answers it. */
export function AnswerPanel({ wait }: { readonly wait: WaitInfo }): ReactNode {
  const { model, isPast, drafts } = useShown();
  const { client, me, announce } = useStudio();
  const { answer } = wait;
  const schema = useMemo(() => answerSchema(wait), [wait]);
  if (!answer || isPast) return <StillWait wait={wait} refusal={null} />;
  const refusal = scopeReason(me, "answer") ?? (answer.type === "signal" ? null : answerRefusal(wait, me));
  if (refusal !== null) return <StillWait wait={wait} refusal={refusal} />;
  const send = async (payload: Json | undefined, idempotencyKey: string): Promise<void> => {
    const sent = { ...(payload !== undefined && { payload }), idempotencyKey };
    if (answer.type === "signal") {
      const { name, key } = answer;
      await client.executions.signal(model.id, { name, ...(key !== undefined && { key }), ...sent });
    } else await client.executions.answer(model.id, { waitId: wait.id, ...sent });
    drafts.forget(wait.id);
    announce(answer.type === "signal" ? `The signal ${answer.name} was sent` : `Answered as ${me.id}`);
  };
  const what = answer.type === "signal" ? `Send ${answer.name}` : `Answer as ${me.id}`;
  return (
    <SchemaForm
      key={wait.id}
      schema={schema}
      draft={drafts.of(wait, schema)}
      submitLabel={what.length > 40 ? `${what.slice(0, 39)}…` : what}
      busyLabel={answer.type === "signal" ? "Sending" : "Answering"}
      onSubmit={send}
      head={<WaitHead wait={wait} />}
    >
      <WaitFacts wait={wait} />
    </SchemaForm>
  );
}

/** A wait that the caller cannot answer: of a time or another execution, of other people, or in the past. */
function StillWait({ wait, refusal }: { readonly wait: WaitInfo; readonly refusal: string | null }): ReactNode {
  return (
    <div className={layout.pane}>
      <WaitHead wait={wait} />
      {refusal !== null && (
        <Notice status="not-yet" icon="lock" isBoxed>
          {refusal}
        </Notice>
      )}
      <WaitFacts wait={wait} />
    </div>
  );
}

function WaitHead({ wait }: { readonly wait: WaitInfo }): ReactNode {
  const { kind, address, openedAt, missing, refused, needsCode, payload } = wait;
  const question = cutBytes(payload) === null ? questionText(wait) : "";
  const isIncident = kind === "incident";
  return (
    <div className={styles.section}>
      <LongText className={styles.question} text={isIncident ? "It has failed for good. What now?" : question || titleOf(wait)} />
      <p className={layout.hint}>
        {openedAt !== undefined && (
          <>
            Asked at <ClockTime at={openedAt} /> by <code>{address}</code>.
          </>
        )}{" "}
        {missing !== undefined &&
          `${missing === 1 ? "One more answer is" : `${nounText(missing, "more answer", "more answers")} are`} needed.`}
        {needsCode && " Only a worker with the code of this node can take the answer."}
      </p>
      {refused && (
        <Notice status="failed" isBoxed>
          The answer{refused.who === undefined ? "" : ` of ${refused.who}`} was refused at <ClockTime at={refused.at} />
          {refused.issues[0] && `: ${refused.issues[0].pointer || "/"} ${refused.issues[0].message}`}
        </Notice>
      )}
      <Deadline wait={wait} />
    </div>
  );
}

function titleOf({ kind, signal, key, workflowId, address }: WaitInfo): string {
  if (kind === "signal") return `Waits for the signal "${signal}"${key === undefined ? "" : ` with the key "${key}"`}`;
  if (kind === "timer") return "Waits for a time";
  if (kind === "child") return `Waits for the execution "${workflowId ?? ""}"`;
  if (kind === "children") return "Waits for what it started";
  if (kind === "delivery") return "Waits until its signal has arrived";
  return `${address} waits for an answer`;
}

/** Until when the wait lasts, and what is left of it. */
function Deadline({ wait: { openedAt, resumeAt, timeoutAt } }: { readonly wait: WaitInfo }): ReactNode {
  const now = useNow();
  const until = Math.min(resumeAt ?? Number.POSITIVE_INFINITY, timeoutAt ?? Number.POSITIVE_INFINITY);
  if (until === Number.POSITIVE_INFINITY) return null;
  const left = openedAt === undefined ? null : Math.min(1, Math.max(0, (until - now) / Math.max(1, until - openedAt)));
  return (
    <div className={styles.deadline}>
      <div className={styles.deadlineLine}>
        <span>
          Until <ShortTime at={until} />
        </span>
        <span>
          <b>
            <Countdown until={until} />
          </b>{" "}
          left{until === timeoutAt ? ", then it times out" : ", then it goes on"}
        </span>
      </div>
      {left !== null && (
        <span className={styles.left}>
          <span className={styles.leftBar} style={{ width: `${(100 * left).toFixed(1)}%` }} />
        </span>
      )}
    </div>
  );
}

function WaitFacts({ wait }: { readonly wait: WaitInfo }): ReactNode {
  const { me } = useStudio();
  const { kind, payload, responders, answered, missing } = wait;
  const failure = kind === "incident" && isFailure(payload) ? payload : null;
  // what the engine itself waits with is told above
  const asked = failure || (kind !== "external" && kind !== "signal") ? undefined : askedWith(payload);
  const people = [...new Set([...(answered ?? []), ...(responders ?? [])])].slice(0, 20);
  return (
    <>
      {people.length > 0 && (
        <Section title="Answers" note={missing === undefined ? "one is enough" : `${countText(answered?.length ?? 0)} so far`}>
          <ul className={styles.list}>
            {people.map((person) => (
              <li key={person} className={styles.entry}>
                <b>{person}</b>
                {person === me.id && "you"}
                <span className={styles.detail}>{answered?.includes(person) ? "has answered" : "can answer"}</span>
              </li>
            ))}
          </ul>
        </Section>
      )}
      {failure && <ErrorLines error={failure.error} />}
      {asked !== undefined && (
        <Section title="What it was asked with">
          <JsonView value={asked} label="What it was asked with" />
        </Section>
      )}
    </>
  );
}

/** What the step suspended with, without what stands above the form anyway. */
function askedWith(payload: Json | undefined): Json | undefined {
  if (payload === undefined || payload === null || typeof payload === "string") return undefined;
  if (!isJsonObject(payload) || cutBytes(payload) !== null) return payload;
  const { type: _, title: __, message: ___, question: ____, approvers: _____, ...rest } = payload;
  return Object.keys(rest).length > 0 ? rest : undefined;
}

function isFailure(payload: unknown): payload is { readonly error: { readonly name: string; readonly message: string } } {
  const error = (payload as { readonly error?: unknown } | null)?.error;
  return typeof error === "object" && error !== null && "message" in error;
}
