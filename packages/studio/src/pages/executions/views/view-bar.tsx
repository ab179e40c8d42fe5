import { type FormEvent, type ReactNode, useState, useSyncExternalStore } from "react";
import { Button } from "../../../ui/controls/button.tsx";
import { Field } from "../../../ui/controls/field.tsx";
import { TextInput } from "../../../ui/controls/input.tsx";
import { Popover } from "../../../ui/overlay/popover.tsx";
import { givenViews, type SavedViews } from "./saved-views.ts";
import styles from "./view-bar.module.css";

/** The views of the list: names for filters. What is filtered otherwise can be saved under a name. */
export function ViewBar(props: {
  readonly views: SavedViews;
  /** The query of the address, as `searchOf` writes it. */
  readonly search: string;
  readonly actions: ReactNode;
}): ReactNode {
  const { views, search, actions } = props;
  const saved = useSyncExternalStore(views.subscribe, views.getViews);
  const all = [...givenViews, ...saved];
  const current = all.findLast((view) => view.search === search);
  return (
    <div className={styles.bar}>
      <nav className={styles.views} aria-label="Views">
        {all.map((view) => (
          <a key={`${view.name} ${view.search}`} href={`/executions${view.search}`} aria-current={view === current ? "page" : undefined}>
            {view.name}
          </a>
        ))}
      </nav>
      {!current && <SaveView onSave={(name) => views.save(name, search)} />}
      {current && saved.includes(current) && (
        <Button kind="ghost" isSmall icon="trash-2" label={`Remove the view ${current.name}`} onClick={() => views.remove(current.name)} />
      )}
      <span className={styles.gap} />
      {actions}
    </div>
  );
}

function SaveView({ onSave }: { readonly onSave: (name: string) => void }): ReactNode {
  return (
    <Popover button={{ kind: "ghost", isSmall: true, icon: "plus", children: "Save view" }} label="Save view">
      {(close) => (
        <SaveForm
          onSave={(name) => {
            onSave(name);
            close();
          }}
        />
      )}
    </Popover>
  );
}

function SaveForm({ onSave }: { readonly onSave: (name: string) => void }): ReactNode {
  const [name, setName] = useState("");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (name.trim() !== "") onSave(name);
  };
  return (
    <form className={styles.form} onSubmit={submit}>
      <Field label="Name" hint="Kept in this browser. The address is the view too: send it to others.">
        {(control) => <TextInput {...control} maxLength={60} value={name} onChange={({ target }) => setName(target.value)} />}
      </Field>
      <Button type="submit" isSmall>
        Save
      </Button>
    </form>
  );
}
