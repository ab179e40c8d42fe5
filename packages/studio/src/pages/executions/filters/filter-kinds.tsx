import { type FormEvent, type ReactNode, useState } from "react";
import { Button } from "../../../ui/controls/button.tsx";
import { Field } from "../../../ui/controls/field.tsx";
import { Checkbox, TextInput } from "../../../ui/controls/input.tsx";
import { Icon } from "../../../ui/icons/icon.tsx";
import { executionStatuses, shownStatus, statusWord } from "../../../ui/status/shown-status.ts";
import { StatusWord } from "../../../ui/status/status-word.tsx";
import styles from "./filter-kinds.module.css";
import { createdWords, type Filters, waitingWords } from "./filters.ts";
import { useWorkflowIds } from "./use-workflow-ids.ts";

/** Changes some filters. */
type Change = (change: Partial<Filters>) => void;

/** What an editor of a filter gets. `onDone` closes what it stands in. */
interface FilterEditorProps {
  readonly filters: Filters;
  readonly onChange: Change;
  readonly onDone: () => void;
}

/** A filter as the bar offers it. */
export interface FilterKind {
  readonly word: string;
  /** What it is set to, in words; null if it is not set. */
  readonly valueText: (filters: Filters) => string | null;
  /** The change that takes it away. */
  readonly cleared: Partial<Filters>;
  /** It is offered only while it is set: links and views set it. */
  readonly isRare?: true;
  readonly Editor: (props: FilterEditorProps) => ReactNode;
}

/** All filters, in the order of the bar. */
export const filterKinds: readonly FilterKind[] = [
  {
    word: "Status",
    valueText: ({ status }) => status.map((one) => statusWord(shownStatus(one))).join(", ") || null,
    cleared: { status: [] },
    Editor: StatusEditor,
  },
  { word: "Workflow", valueText: ({ workflow }) => workflow, cleared: { workflow: null }, Editor: WorkflowEditor },
  {
    word: "Waits for",
    valueText: ({ waiting }) => waiting && waitingWords[waiting],
    cleared: { waiting: null },
    Editor: (props) => <WordChoice {...props} name="waiting" words={waitingWords} />,
  },
  {
    word: "Created",
    valueText: ({ created }) => created && createdWords[created],
    cleared: { created: null },
    Editor: (props) => <WordChoice {...props} name="created" words={createdWords} />,
  },
  {
    word: "Metadata",
    valueText: ({ metadata }) => metadata.map(([key, value]) => `${key} = ${value}`).join(", ") || null,
    cleared: { metadata: [] },
    Editor: MetadataEditor,
  },
  textKind("Node", "node"),
  { ...textKind("Error code", "error"), isRare: true },
  { ...textKind("Id begins with", "idPrefix"), isRare: true },
  { ...textKind("May be answered by", "responder"), isRare: true },
];

/** The names of the filters that are one text. */
type TextName = "node" | "error" | "idPrefix" | "responder" | "workflow";

function textKind(word: string, name: TextName): FilterKind {
  const Editor = (props: FilterEditorProps): ReactNode => <TextEditor {...props} word={word} name={name} />;
  return { word, valueText: (filters) => filters[name], cleared: { [name]: null }, Editor };
}

function StatusEditor({ filters, onChange }: FilterEditorProps): ReactNode {
  return (
    <div className={styles.choices}>
      {executionStatuses.map((status) => (
        <Checkbox
          key={status}
          className={styles.choice}
          checked={filters.status.includes(status)}
          onChange={({ target }) =>
            onChange({ status: executionStatuses.filter((one) => (one === status ? target.checked : filters.status.includes(one))) })
          }
        >
          <StatusWord status={shownStatus(status)} />
        </Checkbox>
      ))}
    </div>
  );
}

function WordChoice<Name extends "waiting" | "created">(
  props: FilterEditorProps & { readonly name: Name; readonly words: Readonly<Record<NonNullable<Filters[Name]>, string>> },
): ReactNode {
  const { filters, onChange, onDone, name, words } = props;
  const entries = (Object.keys(words) as NonNullable<Filters[Name]>[]).map((value) => [value, words[value]] as const);
  const choose = (value: string): void => {
    onChange({ [name]: value });
    onDone();
  };
  return <Choices entries={entries} chosen={filters[name]} onChoose={choose} />;
}

function WorkflowEditor(props: FilterEditorProps): ReactNode {
  const { filters, onChange, onDone } = props;
  const ids = useWorkflowIds();
  const choose = (workflow: string): void => {
    onChange({ workflow });
    onDone();
  };
  return (
    <>
      {ids.length > 0 && <Choices entries={ids.map((id) => [id, id])} chosen={filters.workflow} onChoose={choose} />}
      <TextEditor {...props} word="Workflow id" name="workflow" />
    </>
  );
}

function Choices(props: {
  readonly entries: readonly (readonly [value: string, word: string])[];
  readonly chosen: string | null;
  readonly onChoose: (value: string) => void;
}): ReactNode {
  const { entries, chosen, onChoose } = props;
  return (
    <div className={styles.choices}>
      {entries.map(([value, word]) => (
        <button key={value} type="button" aria-pressed={value === chosen} className={styles.choice} onClick={() => onChoose(value)}>
          {word}
          {value === chosen && <Icon name="check" />}
        </button>
      ))}
    </div>
  );
}

function TextEditor(props: FilterEditorProps & { readonly word: string; readonly name: TextName }): ReactNode {
  const { filters, onChange, onDone, word, name } = props;
  const [text, setText] = useState(filters[name] ?? "");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onChange({ [name]: text.trim() || null });
    onDone();
  };
  return (
    <form className={styles.form} onSubmit={submit}>
      <Field label={word}>
        {(control) => <TextInput {...control} value={text} spellCheck={false} onChange={({ target }) => setText(target.value)} />}
      </Field>
      <Button type="submit" isSmall>
        Apply
      </Button>
    </form>
  );
}

function MetadataEditor({ filters, onChange, onDone }: FilterEditorProps): ReactNode {
  const [[key, value], setPair] = useState(["", ""]);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (key!.trim() === "") return;
    const others = filters.metadata.filter(([other]) => other !== key);
    onChange({ metadata: [...others, [key!.trim(), value!]] });
    onDone();
  };
  return (
    <form className={styles.form} onSubmit={submit}>
      <div className={styles.pair}>
        <Field label="Key">
          {(control) => (
            <TextInput {...control} value={key} spellCheck={false} onChange={({ target }) => setPair([target.value, value!])} />
          )}
        </Field>
        <Field label="Value">
          {(control) => (
            <TextInput {...control} value={value} spellCheck={false} onChange={({ target }) => setPair([key!, target.value])} />
          )}
        </Field>
      </div>
      <Button type="submit" isSmall>
        Add
      </Button>
    </form>
  );
}
