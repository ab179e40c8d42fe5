import { type ReactNode, useEffect, useRef, useState } from "react";
import type { StartReply, WorkflowView } from "stepfold/client";
import { executionPath } from "../../../app/route.ts";
import { useStudio } from "../../../app/studio-context.ts";
import { randomKey } from "../../../form/random-key.ts";
import { SchemaForm } from "../../../form/schema-form.tsx";
import { Field } from "../../../ui/controls/field.tsx";
import { Select, TextInput } from "../../../ui/controls/input.tsx";
import { EmptyState } from "../../../ui/feedback/empty-state.tsx";
import { type Failure, failureOf } from "../../../ui/feedback/failure.ts";
import { FailureState } from "../../../ui/feedback/failure-state.tsx";
import { Notice } from "../../../ui/feedback/notice.tsx";
import { Skeleton } from "../../../ui/feedback/skeleton.tsx";
import { Dialog } from "../../../ui/overlay/dialog.tsx";
import { Identifier } from "../../../ui/text/identifier.tsx";
import { shortHash } from "../../../ui/text/short-identifier.ts";
import styles from "./start-dialog.module.css";

/** Starts an execution: choose a workflow, fill in its input. Then the new execution is shown; to one that was there before, it links. */
export function StartDialog({ workflow, onClose }: { readonly workflow: string | null; readonly onClose: () => void }): ReactNode {
  const { me } = useStudio();
  const { workflows, failure, retry } = useWorkflows();
  const [chosen, setChosen] = useState(workflow);
  return (
    <Dialog title="Start an execution" onClose={onClose}>
      {failure && <FailureState failure={failure} title="The workflows could not be loaded" needs="read" me={me} onRetry={retry} />}
      {!failure && !workflows && <Skeleton width="60%" height={30} />}
      {workflows?.length === 0 && (
        <EmptyState icon="workflow" title="This server has no workflows">
          Workflows that its runtime is created with appear here.
        </EmptyState>
      )}
      {workflows && workflows.length > 0 && <StartForm workflows={workflows} chosen={chosen} onChoose={setChosen} onClose={onClose} />}
    </Dialog>
  );
}

function StartForm(props: {
  readonly workflows: readonly WorkflowView[];
  readonly chosen: string | null;
  readonly onChoose: (id: string) => void;
  readonly onClose: () => void;
}): ReactNode {
  const { workflows, chosen, onChoose, onClose } = props;
  const workflow = workflows.find(({ id }) => id === chosen) ?? workflows[0]!;
  const select = useRef<HTMLSelectElement>(null);
  // the form comes after the dialog
  useEffect(() => select.current?.focus(), []);
  return (
    <>
      <Field label="Workflow" hint={hintOf(workflow)}>
        {(control) => (
          <Select {...control} ref={select} value={workflow.id} onChange={({ target }) => onChoose(target.value)}>
            {workflows.map(({ id }) => (
              <option key={id}>{id}</option>
            ))}
          </Select>
        )}
      </Field>
      <InputForm key={workflow.hash} workflow={workflow} onClose={onClose} />
    </>
  );
}

function InputForm({ workflow, onClose }: { readonly workflow: WorkflowView; readonly onClose: () => void }): ReactNode {
  const { client, announce, navigate } = useStudio();
  const [id, setId] = useState("");
  // until a start is known to have come, it is sent under one id, so that it is made once however often it is sent
  const [madeId, setMadeId] = useState(randomKey);
  /** The execution that had been started before with this id. */
  const [known, setKnown] = useState<StartReply | null>(null);
  const { missingTypes, definition } = workflow;
  const start = async (input: unknown): Promise<void> => {
    setKnown(null);
    const result = await client.executions.start({ workflow: workflow.id, id: id.trim() || madeId, input });
    setMadeId(randomKey());
    announce(`${result.workflowId} ${result.isNew ? "was started" : "had been started before"}.`);
    if (!result.isNew) return setKnown(result);
    onClose();
    navigate(executionPath(result.workflowId));
  };
  const refusal = missingTypes.length > 0 ? `The server lacks the code of ${missingTypes.join(", ")}.` : undefined;
  return (
    <div className={styles.form}>
      <SchemaForm schema={definition.input} submitLabel="Start" busyLabel="Starting" refusal={refusal} onSubmit={start}>
        <Field label="Id" isOptional hint="A second start with the same id and input is the same execution. Left empty, one is made.">
          {(control) => (
            <TextInput {...control} value={id} spellCheck={false} autoComplete="off" onChange={({ target }) => setId(target.value)} />
          )}
        </Field>
        {known && <KnownNotice known={known} />}
      </SchemaForm>
    </div>
  );
}

function KnownNotice({ known: { workflowId } }: { readonly known: StartReply }): ReactNode {
  const ref = useRef<HTMLDivElement>(null);
  // the foot of the form may cover it
  useEffect(() => {
    // browsers return a promise, which is no effect to undo
    void ref.current?.scrollIntoView({ block: "center" });
  }, []);
  return (
    <div ref={ref}>
      <Notice status="completed" isBoxed>
        <a href={executionPath(workflowId)}>
          <Identifier id={workflowId} />
        </a>{" "}
        had been started before, with the same input.
      </Notice>
    </div>
  );
}

function hintOf({ definition, hash }: WorkflowView): string {
  const { version, description } = definition;
  return [version ?? shortHash(hash), description].filter(Boolean).join(" · ");
}

function useWorkflows(): {
  readonly workflows: readonly WorkflowView[] | null;
  readonly failure: Failure | null;
  readonly retry: () => void;
} {
  const { client } = useStudio();
  const [attempt, setAttempt] = useState(0);
  const [state, setState] = useState<{ readonly workflows: readonly WorkflowView[] | null; readonly failure: Failure | null }>({
    workflows: null,
    failure: null,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt asks again
  useEffect(() => {
    const stop = new AbortController();
    client.workflows({ signal: stop.signal }).then(
      ({ workflows }) => setState({ workflows, failure: null }),
      (error) => stop.signal.aborted || setState({ workflows: null, failure: failureOf(error, Date.now()) }),
    );
    return () => stop.abort();
  }, [client, attempt]);
  return { ...state, retry: () => setAttempt(attempt + 1) };
}
