import { type FormEvent, type ReactNode, useMemo, useRef, useSyncExternalStore } from "react";
import type { Json, JsonSchema } from "stepfold/core";
import { classNames } from "../ui/class-names.ts";
import { Button } from "../ui/controls/button.tsx";
import { Field } from "../ui/controls/field.tsx";
import { TextArea } from "../ui/controls/input.tsx";
import { Notice } from "../ui/feedback/notice.tsx";
import layout from "../ui/layout.module.css";
import { FieldInput } from "./field-input.tsx";
import { FormDraft } from "./form-draft.ts";
import styles from "./schema-form.module.css";

export interface SchemaFormProps {
  /** The schema of the value. Undefined or true: any value, entered as JSON. */
  readonly schema: JsonSchema | undefined;
  readonly submitLabel: string;
  /** Stands in the button while the value is sent. */
  readonly busyLabel: string;
  /**
   * Sends the value; undefined if nothing was entered and nothing is needed. A rejection is shown: the issues of `RESUME_INVALID` and
   * `INPUT_INVALID` under their fields, everything else with its code. The key stays the same as long as the value does.
   */
  readonly onSubmit: (value: Json | undefined, idempotencyKey: string) => Promise<void>;
  /** What was entered, if it has to outlive the form. Default: it is lost with the form. */
  readonly draft?: FormDraft | undefined;
  /** Why it cannot be sent. Default: it can. */
  readonly refusal?: string | undefined;
  /** Stands above the fields. */
  readonly head?: ReactNode;
  /** Stands below the fields. */
  readonly children?: ReactNode;
  /** Stands at the right of the foot. */
  readonly actions?: ReactNode;
}

/** A form for a value of which a schema is known, or for any value as JSON. Nothing is preselected. */
export function SchemaForm(props: SchemaFormProps): ReactNode {
  const { schema, submitLabel, busyLabel, onSubmit, refusal, head, children, actions } = props;
  const own = useMemo(() => new FormDraft(schema), [schema]);
  const draft = props.draft ?? own;
  useSyncExternalStore(draft.subscribe, draft.revision);
  const form = useRef<HTMLFormElement>(null);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (refusal !== undefined) return;
    const isSent = await draft.send(onSubmit);
    // the first field that is wrong
    if (!isSent) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  };
  return (
    <form ref={form} className={styles.form} noValidate onSubmit={(event) => void submit(event)}>
      <div className={layout.pane}>
        {head}
        <FormFields draft={draft} />
        {draft.problem && (
          <Notice status="failed" isBoxed>
            <b>{draft.problem.code}</b>: {draft.problem.message}
          </Notice>
        )}
        {children}
      </div>
      <div className={styles.foot}>
        {refusal !== undefined && <p className={classNames(layout.small, styles.refusal)}>{refusal}</p>}
        <Button
          type="submit"
          kind="primary"
          className={styles.submit}
          disabledReason={refusal ?? null}
          busyWord={draft.isBusy ? busyLabel : null}
        >
          {submitLabel}
        </Button>
        <span className={styles.gap} />
        {draft.fields && (
          <Button kind="ghost" icon="braces" aria-pressed={draft.isJson} onClick={() => draft.switchTo(!draft.isJson)}>
            {draft.isJson ? "As fields" : "As JSON"}
          </Button>
        )}
        {actions}
      </div>
    </form>
  );
}

function FormFields({ draft }: { readonly draft: FormDraft }): ReactNode {
  if (!draft.isJson && draft.fields) return draft.fields.map((field) => <FieldInput key={field.pointer} field={field} draft={draft} />);
  return (
    <Field label="Value" valueType="JSON" isOptional={draft.fields === null} error={draft.issues.get("") ?? null}>
      {(control) => (
        <TextArea {...control} isMono rows={8} value={draft.json} onChange={({ currentTarget }) => draft.putJson(currentTarget.value)} />
      )}
    </Field>
  );
}
