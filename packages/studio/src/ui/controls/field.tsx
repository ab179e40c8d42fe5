import { type ReactNode, useId } from "react";
import { Icon } from "../icons/icon.tsx";
import styles from "./field.module.css";

/** What the control of a field needs to belong to its label, hint and error. */
export interface FieldControl {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": true | undefined;
}

/** A label above a control, with its type in mono beside it, and a hint or an error below. */
export function Field(props: {
  readonly label: ReactNode;
  /** What a machine reads, such as `string`. */
  readonly valueType?: string | undefined;
  readonly isOptional?: boolean | undefined;
  /** Stands at the right of the label, such as a segment. */
  readonly end?: ReactNode;
  readonly hint?: ReactNode;
  /** What is wrong, and what to do. */
  readonly error?: string | null | undefined;
  /** Makes the control: `(control) => <TextInput {...control} />`. */
  readonly children: (control: FieldControl) => ReactNode;
}): ReactNode {
  const { label, valueType, isOptional, end, hint, error, children } = props;
  const id = useId();
  const described = [hint ? `${id}-hint` : "", error ? `${id}-error` : ""].filter(Boolean).join(" ");
  return (
    <div className={styles.field}>
      <div className={styles.head}>
        <label className={styles.label} htmlFor={id}>
          {label} {valueType && <span className={styles.valueType}>{valueType}</span>}
          {isOptional && <span className={styles.optional}>optional</span>}
        </label>
        {end}
      </div>
      {children({ id, "aria-describedby": described || undefined, "aria-invalid": error ? true : undefined })}
      {error && <FieldError id={`${id}-error`} text={error} />}
      {hint && (
        <p id={`${id}-hint`} className={styles.hint}>
          {hint}
        </p>
      )}
    </div>
  );
}

/** What is wrong with a field or a form: icon and sentence. */
export function FieldError({ id, text }: { readonly id?: string | undefined; readonly text: string }): ReactNode {
  return (
    <p id={id} className={styles.error}>
      <Icon name="circle-alert" />
      <span>{text}</span>
    </p>
  );
}

/** A group of controls under one question, such as radio buttons. */
export function FieldGroup({ label, children }: { readonly label: ReactNode; readonly children: ReactNode }): ReactNode {
  return (
    <fieldset className={styles.field}>
      <legend className={styles.label}>{label}</legend>
      {children}
    </fieldset>
  );
}
