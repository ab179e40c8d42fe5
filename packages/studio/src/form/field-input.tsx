import { type ReactNode, useId } from "react";
import type { SchemaField } from "../model/value/schema-fields.ts";
import { classNames } from "../ui/class-names.ts";
import { Field, type FieldControl, FieldError, FieldGroup } from "../ui/controls/field.tsx";
import { AnswerChoice, Select, TextArea, TextInput } from "../ui/controls/input.tsx";
import layout from "../ui/layout.module.css";
import type { FormDraft } from "./form-draft.ts";
import styles from "./schema-form.module.css";

/** So many choices stand side by side; more are a list. */
const maxBoxes = 4;

/** One field of a form, as its kind asks for. */
export function FieldInput({ field, draft }: { readonly field: SchemaField; readonly draft: FormDraft }): ReactNode {
  const { kind, pointer, label, typeText, description, isRequired, choices, fields } = field;
  const error = draft.issues.get(pointer) ?? null;
  if (kind === "group")
    return (
      <FieldGroup label={label} valueType={typeText} isOptional={!isRequired}>
        <div className={styles.group}>
          {fields.map((inner) => (
            <FieldInput key={inner.pointer} field={inner} draft={draft} />
          ))}
        </div>
        {error && <FieldError text={error} />}
      </FieldGroup>
    );
  if (choices.length > 0 && choices.length <= maxBoxes) return <ChoiceBoxes field={field} draft={draft} error={error} />;
  return (
    <Field label={label} valueType={typeText} isOptional={!isRequired} hint={description || undefined} error={error}>
      {(control) => <TextControl field={field} draft={draft} control={control} />}
    </Field>
  );
}

/** A few choices, each a box that can be pressed. */
function ChoiceBoxes({
  field,
  draft,
  error,
}: {
  readonly field: SchemaField;
  readonly draft: FormDraft;
  readonly error: string | null;
}): ReactNode {
  const { pointer, label, typeText, description, isRequired, choices } = field;
  const name = useId();
  return (
    <FieldGroup label={label} valueType={typeText} isOptional={!isRequired}>
      <div className={styles.answers}>
        {choices.map((choice, index) => (
          <AnswerChoice
            key={choice.label}
            name={name}
            checked={draft.input(pointer) === String(index)}
            aria-invalid={error ? true : undefined}
            aria-describedby={error ? `${name}-error` : undefined}
            onChange={() => draft.put(pointer, String(index))}
          >
            {choice.label}
          </AnswerChoice>
        ))}
      </div>
      {error && <FieldError id={`${name}-error`} text={error} />}
      {description && <p className={classNames(layout.hint, styles.hint)}>{description}</p>}
    </FieldGroup>
  );
}

function TextControl({
  field,
  draft,
  control,
}: {
  readonly field: SchemaField;
  readonly draft: FormDraft;
  readonly control: FieldControl;
}): ReactNode {
  const { kind, pointer, choices } = field;
  const value = draft.input(pointer);
  const put = (text: string): void => draft.put(pointer, text);
  if (choices.length > 0)
    return (
      <Select {...control} value={value} onChange={({ currentTarget }) => put(currentTarget.value)}>
        <option value="">Choose</option>
        {choices.map(({ label }, index) => (
          <option key={label} value={index}>
            {label}
          </option>
        ))}
      </Select>
    );
  if (kind === "lines" || kind === "json")
    return (
      <TextArea
        {...control}
        isMono={kind === "json"}
        rows={kind === "json" ? 4 : 2}
        value={value}
        onChange={({ currentTarget }) => put(currentTarget.value)}
      />
    );
  const isNumber = kind === "number" || kind === "integer";
  return (
    <TextInput
      {...control}
      inputMode={isNumber ? "decimal" : undefined}
      autoComplete="off"
      value={value}
      onChange={({ currentTarget }) => put(currentTarget.value)}
    />
  );
}
