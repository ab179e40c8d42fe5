import { type ReactNode, useId } from "react";
import { Icon } from "../icons/icon.tsx";
import layout from "../layout.module.css";
import styles from "./field.module.css";

/** What the control of a field needs to belong to its label, hint and error. */
export interface FieldControl {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": true | undefined;
}

interface LabelProps {
  readonly label: ReactNode;
  /** What a machine reads, such as `string`: in mono beside the label. */
  readonly valueType?: string | undefined;
  readonly isOptional?: boolean | undefined;
}

interface FieldProps extends LabelProps {
  /** Stands at the right of the label, such as a segment. */
  readonly end?: ReactNode;
  readonly hint?: ReactNode;
  /** What is wrong, and what to do. */
  readonly error?: string | null | undefined;
  /** Makes the control: `(control) => <TextInput {...control} />`. */
  readonly children: (control: FieldControl) => ReactNode;
}

/** A label above a control, and a hint or an error below. */
export function Field({ end, hint, error, children, ...label }: FieldProps): ReactNode {
  const id = useId();
  const described = [hint ? `${id}-hint` : "", error ? `${id}-error` : ""].filter(Boolean).join(" ");
  return (
    <div className={styles.field}>
      <div className={styles.head}>
        <label className={layout.label} htmlFor={id}>
          <LabelText {...label} />
        </label>
        {end}
      </div>
      {children({ id, "aria-describedby": described || undefined, "aria-invalid": error ? true : undefined })}
      {error && <FieldError id={`${id}-error`} text={error} />}
      {hint && (
        <p id={`${id}-hint`} className={layout.hint}>
          {hint}
        </p>
      )}
    </div>
  );
}

function LabelText({ label, valueType, isOptional }: LabelProps): ReactNode {
  return (
    <>
      {label} {valueType && <span className={styles.valueType}>{valueType}</span>}{" "}
      {isOptional && <span className={layout.labelNote}>optional</span>}
    </>
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
export function FieldGroup({ children, ...label }: LabelProps & { readonly children: ReactNode }): ReactNode {
  return (
    <fieldset className={styles.field}>
      <legend className={layout.label}>
        <LabelText {...label} />
      </legend>
      {children}
    </fieldset>
  );
}
