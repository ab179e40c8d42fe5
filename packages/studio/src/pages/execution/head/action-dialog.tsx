import { type ReactNode, useState } from "react";
import type { Client } from "stepfold/client";
import { useStudio } from "../../../app/studio-context.ts";
import { randomKey } from "../../../form/random-key.ts";
import { Button } from "../../../ui/controls/button.tsx";
import { Field } from "../../../ui/controls/field.tsx";
import { Radio, TextArea } from "../../../ui/controls/input.tsx";
import { failureOf } from "../../../ui/feedback/failure.ts";
import { Notice } from "../../../ui/feedback/notice.tsx";
import layout from "../../../ui/layout.module.css";
import { Dialog } from "../../../ui/overlay/dialog.tsx";
import { ticker } from "../../../ui/text/now.tsx";
import type { ExecutionAction } from "./execution-head.tsx";

/** What a dialog has collected. */
interface Choices {
  readonly reason: string;
  /** Whether steps that were undone are performed again. Null: not chosen. */
  readonly compensated: "again" | "keep" | null;
  /** So that a second try is the same restart. */
  readonly idempotencyKey: string;
}

/** What is told of an action. */
const words: Readonly<
  Record<
    ExecutionAction,
    { readonly title: string; readonly word: string; readonly busy: string; readonly text: string; readonly foot: string }
  >
> = {
  cancel: {
    title: "Cancel",
    word: "Cancel execution",
    busy: "Cancelling",
    text: "What runs now is stopped, and what waits is not waited for any more.",
    foot: "Completed steps are undone where their nodes say how.",
  },
  retry: {
    title: "Retry",
    word: "Retry now",
    busy: "Retrying",
    text: "The attempt that is pending is made at once instead of at its time. A parked execution may be driven again.",
    foot: "Attempts that are used up stay so.",
  },
  restart: {
    title: "Restart",
    word: "Restart",
    busy: "Restarting",
    text: "The execution goes on under its id at what has failed or was cancelled. Completed steps are not performed again.",
    foot: "Steps that failed are performed again.",
  },
};

interface ActionProps {
  readonly action: ExecutionAction;
  readonly workflowId: string;
  readonly onClose: () => void;
}

/** Asks once more before something is done with the whole execution. */
export function ActionDialog(props: ActionProps): ReactNode {
  const { action, workflowId, onClose } = props;
  const { choices, setChoices, isBusy, failure, act } = useAction(props);
  const { title, word, busy, text, foot } = words[action];
  const mustChoose = failure?.code === "RESTART_COMPENSATED" || choices.compensated !== null;
  const lacksChoice = mustChoose && choices.compensated === null;
  return (
    <Dialog
      title={`${title} ${workflowId.length > 40 ? `${workflowId.slice(0, 39)}…` : workflowId}`}
      onClose={onClose}
      footNote={foot}
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button
            kind="primary"
            busyWord={isBusy ? busy : null}
            disabledReason={lacksChoice ? "Choose what happens to the steps that were undone." : null}
            onClick={act}
          >
            {word}
          </Button>
        </>
      }
    >
      <p>{text}</p>
      {action === "cancel" && <Reason text={choices.reason} onChange={(reason) => setChoices({ ...choices, reason })} />}
      {mustChoose && <Compensated chosen={choices.compensated} onChoose={(compensated) => setChoices({ ...choices, compensated })} />}
      {failure && failure.code !== "RESTART_COMPENSATED" && (
        <Notice status="failed" isBoxed>
          <b>{failure.code}</b>: {failure.message}
        </Notice>
      )}
    </Dialog>
  );
}

/** What is chosen in the dialog, and the call that it makes. One opening of the dialog is one restart, however often it is sent. */
function useAction({ action, workflowId, onClose }: ActionProps) {
  const { client, announce } = useStudio();
  const [choices, setChoices] = useState<Choices>(() => ({ reason: "", compensated: null, idempotencyKey: randomKey() }));
  const [isBusy, setIsBusy] = useState(false);
  const [failure, setFailure] = useState<ReturnType<typeof failureOf> | null>(null);
  const act = async (): Promise<void> => {
    setIsBusy(true);
    try {
      await perform(client, action, workflowId, choices);
      announce(`${words[action].title}: done`);
      onClose();
    } catch (thrown) {
      setFailure(failureOf(thrown, ticker.read()));
    } finally {
      setIsBusy(false);
    }
  };
  return { choices, setChoices, isBusy, failure, act: () => void act() };
}

function Reason({ text, onChange }: { readonly text: string; readonly onChange: (text: string) => void }): ReactNode {
  return (
    <Field label="Reason" isOptional hint="Stands in the history.">
      {(control) => (
        <TextArea {...control} rows={2} maxLength={1_000} value={text} onChange={({ currentTarget }) => onChange(currentTarget.value)} />
      )}
    </Field>
  );
}

function Compensated({
  chosen,
  onChoose,
}: {
  readonly chosen: Choices["compensated"];
  readonly onChoose: (chosen: "again" | "keep") => void;
}): ReactNode {
  return (
    <fieldset className={layout.column}>
      <legend>Steps were undone. What happens to them?</legend>
      <Radio name="compensated" checked={chosen === "again"} onChange={() => onChoose("again")}>
        They are performed again
      </Radio>
      <Radio name="compensated" checked={chosen === "keep"} onChange={() => onChoose("keep")}>
        They count as if they had not been undone
      </Radio>
    </fieldset>
  );
}

async function perform(
  client: Client,
  action: ExecutionAction,
  workflowId: string,
  { reason, compensated, idempotencyKey }: Choices,
): Promise<void> {
  if (action === "cancel") await client.executions.cancel(workflowId, reason.trim() === "" ? {} : { reason: reason.trim() });
  else if (action === "retry") await client.executions.retry(workflowId);
  else await client.executions.restart(workflowId, { idempotencyKey, ...(compensated && { compensated }) });
}
